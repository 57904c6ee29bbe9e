"""The strip of a chain has a box for each step, and the loops of its nest."""

from __future__ import annotations

import re

import symlayout as sl
from symlayout.show.chain_diagram import Stage, lanes, loops, stages, strip, words
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


X = sl.tensor("N, C, 2*h, 2*w", name="x")
FOCUS = sl.concatenate([X[:, :, i::2, j::2] for j in (0, 1) for i in (0, 1)], axis=1)


def drawn_lines(chain: list[Stage]) -> list[tuple[float, float, float, float]]:
    """Return the ends of the lines of a graph, in the order of the stages and of what each reads."""
    canvas = Canvas()
    strip(canvas, 0, 0, 432, chain)
    svg = canvas.document(432, 400, "", "")
    found = re.findall(r'd="M([\d.]+) ([\d.]+)V[\d.]+L([\d.]+) ([\d.]+)"', svg)
    return [(float(a), float(b), float(c), float(d)) for a, b, c, d in found]


def test_operations_that_share_an_input_are_drawn_as_a_graph() -> None:
    chain = stages(FOCUS, FOCUS.subs({"N": 1, "C": 1, "h": 2, "w": 2}))
    assert [stage.inputs for stage in chain] == [(), (0,), (0,), (0,), (0,), (1, 2, 3, 4)]
    edges = [(i, k) for k, stage in enumerate(chain) for i in stage.inputs]
    drawn = drawn_lines(chain)
    assert len(drawn) == len(edges) == 8
    rows = sorted({y for line in drawn for y in (line[1], line[3])})
    assert [(rows.index(line[1]), rows.index(line[3])) for line in drawn] == edges
    assert list(words(chain))[1] == "2: getitem of 1 gives (N, C, h, w)"
    assert list(words(chain))[-1] == "6: concatenate of 2 and 3 and 4 and 5 gives (N, 4*C, h, w)"


def test_no_line_of_a_graph_runs_through_a_row_that_it_does_not_meet() -> None:
    x, y = sl.tensor("N", name="x"), sl.tensor("M", name="y")
    a = sl.concatenate([x, y, sl.flip(x)])
    t = sl.concatenate([a, sl.flip(a), sl.concatenate([y, sl.flip(a), x])])
    chain = stages(t, t.subs({"N": 2, "M": 2}))
    lane = lanes(chain)
    for k, stage in enumerate(chain):
        for i in stage.inputs:
            assert all(lane[between] != lane[i] for between in range(i + 1, k))


def test_a_large_graph_leaves_rows_out() -> None:
    t = sl.tensor("N", name="x")
    for _ in range(20):
        t = sl.concatenate([sl.flip(t), t])
    chain = stages(t, t.subs({"N": 2}))
    assert len(chain) == 24
    (number,) = [k for k, stage in enumerate(chain) if "more steps" in stage.lines[0]]
    assert all(i < k for k, stage in enumerate(chain) for i in stage.inputs)
    assert chain[number].inputs
    assert any(number in stage.inputs for stage in chain[number:])


def test_a_shape_is_not_cut_as_long_as_it_fits() -> None:
    x = sl.tensor("batch, channels, 2*height, 2*width", name="x")
    chain = stages(sl.space_to_depth(x, 2), sl.space_to_depth(x, 2).subs(dict.fromkeys(("batch", "channels"), 1)))
    assert chain[0].lines[0] == "x (batch, channels, 2*height, 2*width)"
