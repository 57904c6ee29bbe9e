"""What ``make test`` leaves to ``make test-all``: tests that are slow, most cases of long lists, most random examples.

``--after-quick`` leaves out what ``make test`` has run in the same way: tests that are not slow and have no random
examples, for which the profile ``quick`` makes no difference.

Tests with the marker ``exhaustive`` are left to ``make promises``, which runs them by ``--exhaustive``.

``--processor-times=N`` shows the N tests that took the most processor time, children included: a time that other
processes hardly change, unlike the durations of pytest.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from symlayout_codegen.limits import limits
from tests.support.effort import examples

limits.compiler_seconds = 3600.0  # a compiler that hangs is what some tests are about; a machine that is busy is not
settings.register_profile("quick", max_examples=10)
"""The profile of ``make test``: a tenth of the examples; see `tests.support.effort`."""


_BEGIN = pytest.StashKey[float]()
_PROPERTY = "processor seconds"
_REPLAYED = ("equivalence", "optimize_models")  # folders whose verdicts about models are replayed in onnxruntime
_HAS_ONNXRUNTIME = find_spec("onnxruntime") is not None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--after-quick", action="store_true", help="leave out what make test has run in the same way")
    parser.addoption("--exhaustive", action="store_true", help="run what is marked so too, and not only in samples")
    parser.addoption("--processor-times", type=int, default=0, metavar="N", help="show the longest N")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow all cases but the sample where a test has the marker ``sample``; obey the options."""
    if not config.getoption("--exhaustive"):
        _keep(config, items, [not item.get_closest_marker("exhaustive") for item in items])
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        marker = found[0].get_closest_marker("sample")
        assert marker is not None
        (count,) = marker.args
        kept = {k * len(found) // count for k in range(count)}
        for k, item in enumerate(found):
            if k not in kept:
                item.add_marker(pytest.mark.slow)
    if config.getoption("--after-quick"):
        _keep(config, items, [bool(item.get_closest_marker("slow")) or _has_random_examples(item) for item in items])


def _keep(config: pytest.Config, items: list[pytest.Item], kept: list[bool]) -> None:
    """Deselect the *items* that are not *kept*."""
    config.hook.pytest_deselected(items=[item for item, keep in zip(items, kept, strict=True) if not keep])
    items[:] = [item for item, keep in zip(items, kept, strict=True) if keep]


def _has_random_examples(item: pytest.Item) -> bool:
    """Return whether the profile may change the number of examples: of hypothesis, and where a file asks for it."""
    if not isinstance(item, pytest.Function):
        return False
    return getattr(item.obj, "is_hypothesis_test", False) or vars(item.module).get("examples") is examples


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note when the test begins."""
    item.stash[_BEGIN] = _processor_seconds()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Replay verdicts about models in onnxruntime, where that is installed."""
    folder = Path(__file__).parent
    if not _HAS_ONNXRUNTIME or not any(folder / name in item.path.parents for name in _REPLAYED):
        return (yield)
    with import_module("tests.attack.replay").replays():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add the processor time to the last report of the test; the process that prints the summary may be another."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    if call.when == "teardown":
        report.user_properties.append((_PROPERTY, _processor_seconds() - item.stash[_BEGIN]))
    return report  # type: ignore[return-value]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what ``--processor-times`` asks for."""
    if count := terminalreporter.config.getoption("--processor-times"):
        reports = [r for found in terminalreporter.stats.values() for r in found if isinstance(r, pytest.TestReport)]
        times = [
            (float(str(value)), r.nodeid) for r in reports for name, value in r.user_properties if name == _PROPERTY
        ]
        terminalreporter.section(f"processor time: {sum(value for value, _ in times):.0f} s")
        for value, name in sorted(times, reverse=True)[:count]:
            terminalreporter.write_line(f"{value:7.2f} s  {name}")


def _processor_seconds() -> float:
    return sum(os.times()[:4])
