"""The strip of a chain has a box for each step, and the loops of its nest."""

from __future__ import annotations

import symlayout as sl
from symlayout.show.chain_diagram import loops, stages, strip, words
from symlayout.show.svg import Canvas

T = sl.pad(sl.transpose(sl.tensor("H, W", name="x")), 1)


def test_each_step_has_a_box_with_both_shapes() -> None:
    chain = stages(T, T.subs({"H": 2, "W": 3}))
    assert [stage.by for stage in chain] == ["", "transpose", "pad"]
    assert [stage.lines[:2] for stage in chain] == [
        ("x (H, W)", "(2, 3)"),
        ("(W, H)", "(3, 2)"),
        ("(W + 2, H + 2)", "(5, 4)"),
    ]
    assert list(words(chain))[1:] == ["transpose gives (W, H)", "pad gives (W + 2, H + 2)"]


def test_a_long_chain_leaves_steps_out_and_says_how_many() -> None:
    t = sl.tensor("N", name="x")
    for _ in range(20):
        t = sl.flip(t)
    chain = stages(t, t.subs({"N": 2}))
    (left_out,) = [stage for stage in chain if "more steps" in stage.lines[0]]
    assert len(chain) - 1 + int(left_out.lines[0].split()[0]) == 21  # a box more stood there than was said


def test_strip_and_loops_take_room() -> None:
    canvas = Canvas()
    wide = strip(canvas, 0, 0, 2000, stages(T, T.subs({"H": 2, "W": 3})))
    narrow = strip(canvas, 0, 0, 150, stages(T, T.subs({"H": 2, "W": 3})))
    assert 0 < wide < narrow
    assert loops(canvas, 0, 0, 600, T, {"H": 2, "W": 3}) > 0
