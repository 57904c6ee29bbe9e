"""Damaged and hostile files of torch.export: refused with a typed error, or read as something else, never worse."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

import symlayout as sl
from symlayout.errors import FormatError, SymlayoutError
from symlayout.models.formats import pt2_archive
from symlayout.models.formats.load_pt2 import read_pt2
from symlayout.models.formats.pt2_expressions import UnreadError, guards_of, size_of
from symlayout.models.known_dims import KnownDims
from tests.models.pt2.test_load_pt2 import FOLDER, rewritten

SOURCE = FOLDER / "torch_upsampled.pt2"
N = sl.dim("N", min=2)


def archive(path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return path


def entries() -> dict[str, bytes]:
    with zipfile.ZipFile(SOURCE) as source:
        return {name: source.read(name) for name in source.namelist()}


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.pt2"
    for data in (b"", b"PK", b"PK\3\4" + bytes(40), SOURCE.read_bytes()[:-30], bytes(1000)):
        path.write_bytes(data)
        with pytest.raises(FormatError):
            sl.read_model(path)
    with pytest.raises(FormatError, match=r"torch\.export\.save writes one from 2\.8 on"):
        sl.read_model(archive(path, {"serialized_exported_program.json": b"{}"}))


def test_what_is_compressed_is_not_read(tmp_path: Path) -> None:
    large = entries() | {"m/models/model.json": b" " * (1 << 24)}
    large = {name.replace("torch_upsampled/", "m/"): data for name, data in large.items()}
    with pytest.raises(FormatError, match="compressed or encrypted"):
        sl.read_model(archive(tmp_path / "m.pt2", large, zipfile.ZIP_DEFLATED))


def test_json_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (b"[" * 200_000, b"nul", b"{", b"9" * 5000, b"\xff", b"[]", b"{}", b'"x"'):
        with pytest.raises(FormatError):
            sl.read_model(archive(tmp_path / "m.pt2", {"m/models/model.json": text}))
    monkeypatch.setattr(pt2_archive, "MAX_JSON", 100)
    with pytest.raises(FormatError, match="at most 100 are read"):
        sl.read_model(SOURCE)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("sizes", [{"as_int": 1 << 40}]),
        ("strides", [{"as_int": 1 << 61}] * 4),
        ("storage_offset", {"as_int": 1 << 50}),
        ("sizes", [{"as_int": -1}] * 4),
        ("sizes", 3),
        ("dtype", "x"),
        ("dtype", 8),
        ("strides", [{"as_int": 0}]),
        ("sizes", [{"as_int": 3}] * 4),
        ("storage_offset", None),
        ("sizes", [{"as_int": "3"}] * 4),
    ],
)
def test_weights_outside_their_storage_are_refused(tmp_path: Path, key: str, value: Any) -> None:
    made = entries()
    config = next(name for name in made if name.endswith("model_weights_config.json"))
    table = json.loads(made[config])
    table["config"]["down.weight"]["tensor_meta"][key] = value
    made[config] = json.dumps(table).encode()
    if key == "dtype" and value == "x":  # which is not known, so that the elements are not read
        assert sl.read_model(archive(tmp_path / "m.pt2", made)).outputs
        return
    with pytest.raises(SymlayoutError):
        sl.read_model(archive(tmp_path / "m.pt2", made))


def test_a_weight_that_repeats_is_bounded(tmp_path: Path) -> None:
    made = entries()
    config = next(name for name in made if name.endswith("model_weights_config.json"))
    table = json.loads(made[config])
    meta = table["config"]["down.weight"]["tensor_meta"]
    meta["sizes"], meta["strides"] = [{"as_int": 1 << 40}], [{"as_int": 0}]
    made[config] = json.dumps(table).encode()
    with pytest.raises(FormatError, match="its storage"):
        sl.read_model(archive(tmp_path / "m.pt2", made))


def test_pickles_are_not_opened(tmp_path: Path) -> None:
    """Example inputs are a pickle: bytes that no pickle has are no matter."""
    made = entries()
    samples = [name for name in made if "sample_inputs" in name]
    assert samples
    made |= dict.fromkeys(samples, b"no pickle")
    assert sl.read_model(archive(tmp_path / "m.pt2", made)).outputs


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "__import__('os')",
        "Symbol('M')",
        "Integer(1",
        "Integer(99999999999999999999999)",
        "Symbol('N', x=1)",
        "Pow(Symbol('N'), Integer(1000))",
        "Pow(Integer(9000000000000000000), Integer(8))",
        "FloorDiv(Symbol('N'), Integer(0))",
        "Add(" * 3000,
        "Mul(" + ", ".join(["Symbol('N')"] * 9000) + ")",
        "Lambda(Symbol('N'))",
        "Integer(1) Integer(2)",
        "Symbol('N').subs",
        "Mod(Symbol('N'))",
        "Add()",
    ],
)
def test_other_expressions_are_not_read(text: str) -> None:
    with pytest.raises(UnreadError):
        size_of(text, {"N": N})


def test_expressions_are_those_of_torch() -> None:
    def size(text: str) -> Any:
        return size_of(text, {"N": N})

    assert size("Symbol('N', positive=True, integer=True)") == N
    assert size("Add(Mul(Integer(2), Symbol('N')), Integer(-3))") == 2 * N - 3
    assert size("FloorDiv(Add(Symbol('N'), Integer(-1)), Integer(2))") == (N - 1) // 2
    assert size("CeilDiv(Symbol('N'), Integer(2))") == -(-N // 2)
    assert size("Mod(Mul(Integer(6), Symbol('N')), Integer(3))") == 0
    assert size("CleanDiv(Mul(Integer(6), Symbol('N')), Integer(3))") == 2 * N
    assert size("Pow(Symbol('N'), Integer(2))") == N**2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "L['x'].size()[0]",
        "L.x == 1",
        "exec('1') == 1",
        "(" * 500 + "1",
        "1 == 1 and 2 == 2 or 3 == 3",
        "2**9 == 1",
        "L['x'].size()[0] % 0 == 1",
        "1 < 2 < 3",
        "-" * 3000 + "1 == 1",
    ],
)
def test_other_guards_are_not_read(text: str) -> None:
    with pytest.raises(UnreadError):
        guards_of(text, lambda path, axis: N)


def test_guards_are_those_of_torch() -> None:
    ((found,),) = guards_of("(1 + (((-1) + L['x'].size()[3]) // 2)) != 1", lambda path, axis: N)
    assert (found.left, found.sign, found.right) == (1 + (N - 1) // 2, "!=", 1)
    (two,) = guards_of("(2*L['x'][0].size()[0]) == 12 or (24 % 12) == 0", lambda p, a: N)
    assert [(g.left, g.right) for g in two] == [(2 * N, 12), (0, 0)]
    both = guards_of("1 + L['x'].size()[0] >= 1 and 2 < 3", lambda p, a: N)
    assert [[g.sign for g in guards] for guards in both] == [[">="], ["<"]]


def test_guards_that_no_sizes_meet_are_refused(tmp_path: Path) -> None:
    for guard in ("1 == 2", "L['image'].size()[0] < 1", "L['image'].size()[2] == 7"):
        made = rewritten(SOURCE, tmp_path / "m.pt2", lambda p, g=guard: p.update(guards_code=[g]))  # type: ignore[misc]
        with pytest.raises(SymlayoutError):
            sl.read_model(made)


_WRONG: list[Any] = [None, -1, 1 << 70, "x", [], {}, True, 1.5, [[]], {"as_int": 1}, {"as_tensor": {"name": "x"}}]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        found += _places(part, (*path, key))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_a_changed_graph_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    name = draw.choice(["upsampled", "block", "patches", "recurrent"])

    def change(program: dict[str, Any]) -> None:
        places = _places({k: v for k, v in program.items() if k not in ("torch_version", "verifiers")})
        for _ in range(draw.choice([1, 1, 3])):
            path = draw.choice(places)
            at: Any = program
            try:
                for key in path[:-1]:
                    at = at[key]
                at[path[-1]] = draw.choice(_WRONG)
            except (KeyError, IndexError, TypeError):  # another change took the place away
                continue

    made = rewritten(FOLDER / f"torch_{name}.pt2", tmp_path / "m.pt2", change)
    try:
        model = read_pt2(made, KnownDims({}))
    except SymlayoutError:
        return
    assert model.outputs


@pytest.mark.parametrize("seed", range(60))
def test_changed_bytes_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    data = bytearray(SOURCE.read_bytes())
    end = data.rindex(b"PK\1\2") if seed % 2 else len(data) - 1
    for _ in range(draw.choice([1, 4, 20])):
        data[draw.randrange(0 if seed % 3 else end - 2000, len(data))] = draw.randrange(256)
    path = tmp_path / "m.pt2"
    path.write_bytes(data[: draw.randrange(len(data) // 2, len(data))] if seed % 5 == 0 else data)
    try:
        sl.read_model(path)
    except SymlayoutError:
        return
