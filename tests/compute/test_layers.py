"""Layers with states, attention, sampling, text and training: values against NumPy, and what proofs see of them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute import attention, recurrent, sampling, text, training
from symlayout.frontends.onnx import text as onnx_text
from symlayout.frontends.onnx import transformer_layers

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(7)


@pytest.mark.parametrize("module", [attention, onnx_text, recurrent, sampling, text, training, transformer_layers])
def test_each_module_says_what_it_has(module: ModuleType) -> None:
    assert module.__doc__


def qkv() -> tuple[sl.Tensor, sl.Tensor, sl.Tensor]:
    n, h, s, t = sl.dims("N H S T", min=1)
    return (
        sl.tensor((n, h, s, 8), "float32", name="q"),
        sl.tensor((n, h, t, 8), "float32", name="k"),
        sl.tensor((n, h, t, 5), "float32", name="v"),
    )


def by_hand(q: sl.Tensor, k: sl.Tensor, v: sl.Tensor) -> sl.Tensor:
    root = np.float32(8**-0.25)
    scores = sl.onnx.matmul(sl.onnx.mul(q, root), sl.transpose(sl.onnx.mul(k, root), (0, 1, 3, 2)))
    made: sl.Tensor = sl.onnx.matmul(sl.onnx.softmax(scores, axis=-1), v)
    return made


def test_attention_is_its_products_and_softmax_for_all_sizes() -> None:
    q, k, v = qkv()
    assert sl.prove_equal(sl.onnx.attention(q, k, v), by_hand(q, k, v)).verdict is sl.Verdict.PROVED


def test_heads_in_one_axis_are_heads_in_their_own() -> None:
    n, s, t = sl.dims("N S T", min=1)
    xs = [sl.tensor((n, m, 4 * d), "float32", name=a) for a, m, d in (("q", s, 8), ("k", t, 8), ("v", t, 5))]
    apart = [
        sl.transpose(sl.reshape(x, (n, m, 4, d)), (0, 2, 1, 3))
        for x, m, d in zip(xs, (s, t, t), (8, 8, 5), strict=True)
    ]
    y = sl.reshape(sl.transpose(by_hand(apart[0], apart[1], apart[2]), (0, 2, 1, 3)), (n, s, 20))
    assert sl.prove_equal(sl.onnx.attention(*xs, q_num_heads=4, kv_num_heads=4), y).verdict is sl.Verdict.PROVED


def test_causal_attention_differs_and_sees_no_later_key() -> None:
    q, k, v = qkv()
    causal = sl.onnx.attention(q, k, v, is_causal=1)
    assert sl.prove_equal(causal, sl.onnx.attention(q, k, v)).verdict is sl.Verdict.REFUTED
    a = [RNG.random(shape, np.float32) for shape in ((2, 3, 4, 8), (2, 3, 4, 8), (2, 3, 4, 5))]
    found = sl.interpret(causal, *a)
    for last in range(4):
        part = sl.interpret(
            sl.onnx.attention(q, k, v), a[0][:, :, last : last + 1], *(x[:, :, : last + 1] for x in a[1:])
        )
        np.testing.assert_allclose(found[:, :, last : last + 1], part, rtol=1e-5)


def test_a_row_without_keys_is_zero() -> None:
    q, k, v = qkv()
    y = sl.onnx.attention(q, k, v, sl.tensor(sl.dims("S T", min=1), bool, name="mask"))
    a = [RNG.random(shape, np.float32) for shape in ((1, 1, 2, 8), (1, 1, 3, 8), (1, 1, 3, 5))]
    found = sl.interpret(y, q=a[0], k=a[1], v=a[2], mask=np.array([[True] * 3, [False] * 3]))
    assert (found[0, 0, 1] == 0).all()
    assert (found[0, 0, 0] != 0).all()


@pytest.mark.parametrize(("name", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_sequences_of_other_lengths_are_run_as_if_alone(name: str, gates: int, direction: str) -> None:
    ways = 2 if direction == "bidirectional" else 1
    x = RNG.standard_normal((5, 3, 2))
    w, r = (RNG.standard_normal((ways, 4 * gates, m)) for m in (2, 4))
    lengths = np.array([5, 2, 3], np.int32)
    leaves = [sl.tensor((None,) * a.ndim, a.dtype, n) for n, a in (("x", x), ("w", w), ("r", r), ("n", lengths))]
    layer = getattr(sl.onnx, name)
    y = layer(*leaves[:3], None, leaves[3], hidden_size=4, direction=direction, outputs=2)
    all_states, last = (sl.interpret(t, x, w, r, lengths) for t in y)
    for row, n in enumerate(lengths.tolist()):
        alone = layer(*leaves[:3], hidden_size=4, direction=direction, outputs=2)
        states, end = (sl.interpret(t, x[:n, row : row + 1], w, r) for t in alone)
        np.testing.assert_allclose(all_states[:n, :, row : row + 1], states, rtol=1e-6)
        np.testing.assert_allclose(last[:, row : row + 1], end, rtol=1e-6)
        assert (all_states[n:, :, row] == 0).all()


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_weights_of_another_number_of_directions_are_refused(direction: str) -> None:
    ways = 1 if direction == "bidirectional" else 2
    x, w, r = (sl.tensor(shape, "float32") for shape in ("T, N, 2", (ways, 12, 2), (ways, 12, 4)))
    with pytest.raises(sl.ShapeError, match=f"an extent of {ways}, not {3 - ways}, of input 1 of GRU") as caught:
        sl.onnx.gru(x, w, r, hidden_size=4, direction=direction)
    assert caught.value.kind == "size_mismatch"


def test_an_lstm_step_is_its_formula() -> None:
    x, w, r, b = (RNG.standard_normal(s) for s in ((1, 1, 3), (1, 8, 3), (1, 8, 2), (1, 16)))
    leaves = [sl.tensor(a.shape, a.dtype, n) for n, a in zip("xwrb", (x, w, r, b), strict=True)]
    h, c = sl.onnx.lstm(*leaves, hidden_size=2, outputs=3)[1:]
    i, o, _, cell = np.split(w[0] @ x[0, 0] + b[0, :8] + b[0, 8:], 4)
    state = np.tanh(cell) / (1 + np.exp(-i))
    np.testing.assert_allclose(sl.interpret(c, x=x, w=w, r=r, b=b)[0, 0], state)
    np.testing.assert_allclose(sl.interpret(h, x=x, w=w, r=r, b=b)[0, 0], np.tanh(state) / (1 + np.exp(-o)))


@pytest.mark.parametrize("mode", ["linear", "nearest", "cubic"])
@pytest.mark.parametrize("align", [0, 1])
def test_a_regular_grid_samples_the_image_itself(mode: str, align: int) -> None:
    image = RNG.random((2, 3, 4, 5), np.float32)
    theta = np.broadcast_to(np.array([[1, 0, 0], [0, 1, 0]], np.float32), (2, 2, 3))
    grid = sl.onnx.affine_grid(sl.tensor((2, 2, 3), "float32", name="t"), size=(2, 3, 4, 5), align_corners=align)
    y = sl.onnx.grid_sample(sl.tensor("N, C, H, W", "float32", name="x"), grid, align_corners=align, mode=mode)
    np.testing.assert_allclose(sl.interpret(y, x=image, t=theta), image, atol=1e-5)


def test_unpooling_writes_maxima_where_they_were() -> None:
    x = sl.tensor("N, C, 6, 8", "float32", name="x")
    values, at = sl.onnx.max_pool(x, kernel_shape=(2, 2), strides=(2, 2), outputs=2)
    array = RNG.random((1, 1, 6, 8), np.float32)
    found = sl.interpret(sl.onnx.max_unpool(values, at, kernel_shape=(2, 2), strides=(2, 2)), array)
    assert found.shape == array.shape
    assert sorted(found[found != 0].tolist()) == sorted(sl.interpret(values, array).ravel().tolist())
    assert (array[found != 0] == found[found != 0]).all()


def test_columns_of_windows_added_back_count_how_often_an_element_is_read() -> None:
    x = sl.tensor((1, 4, 9), "float32", name="x")
    y = sl.interpret(sl.onnx.col2im(x, image_shape=(4, 4), block_shape=(2, 2)), np.ones((1, 4, 9), np.float32))
    along = np.array([1, 2, 2, 1], np.float32)
    assert (y[0, 0] == along[:, None] * along).all()


def test_a_deformed_convolution_without_offsets_is_the_convolution() -> None:
    x, w = sl.tensor((1, 2, 6, 5), "float32", name="x"), sl.tensor((3, 2, 3, 3), "float32", name="w")
    a, b = RNG.random((1, 2, 6, 5), np.float32), RNG.random((3, 2, 3, 3), np.float32)
    offset = sl.tensor((1, 18, 6, 5), "float32", name="o")
    y = sl.onnx.deform_conv(x, w, offset, pads=(1, 1, 1, 1))
    expected = sl.interpret(sl.onnx.conv(x, w, pads=(1, 1, 1, 1)), a, b)
    np.testing.assert_allclose(sl.interpret(y, x=a, w=b, o=np.zeros((1, 18, 6, 5), np.float32)), expected, rtol=1e-5)


def test_of_boxes_that_overlap_the_best_is_chosen() -> None:
    boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 2.1], [5, 5, 6, 6]]], np.float32)
    scores = np.array([[[0.5, 0.9, 0.1]]], np.float32)
    given = {"max_output_boxes_per_class": np.array([3]), "iou_threshold": np.array([0.5])}
    y = sl.onnx.non_max_suppression(sl.tensor("1, 3, 4", name="b"), sl.tensor("1, 1, 3", name="s"), **given)
    assert sl.interpret(y, b=boxes, s=scores, dims={y.shape[0]: 2}).tolist() == [[0, 0, 1], [0, 0, 2]]


@pytest.mark.parametrize("extents", [(5, 9), (8, 3), (6, 6)])
def test_a_centered_crop_or_pad_has_the_middle(extents: tuple[int, int]) -> None:
    n, m = extents
    x = sl.tensor("N", "int64", name="x")
    y = sl.onnx.center_crop_pad(x, shape=[sl.dim("M")])
    found = sl.interpret(y, np.arange(1, n + 1), dims={"M": m})
    cut = (n - m) // 2 if n > m else 0
    before = (m - n) // 2 if m > n else 0
    expected = np.zeros(m, np.int64)
    expected[before : before + min(n, m)] = np.arange(1, n + 1)[cut : cut + min(n, m)]
    assert found.tolist() == expected.tolist()


def test_a_step_of_adam_is_its_formula_and_reads_one_element_of_each() -> None:
    names = ("x", "g", "v", "h")
    leaves = [sl.tensor("N", "float64", name=n) for n in names]
    r, t = sl.tensor((), "float64", name="r"), sl.tensor((), "int64", name="t")
    adam = sl.op("onnx:ai.onnx.preview.training.Adam")
    news = adam(r, t, *leaves, alpha=0.9, beta=0.99, epsilon=1e-8)
    moved = adam(r, t, *(leaf[::-1] for leaf in leaves), alpha=0.9, beta=0.99, epsilon=1e-8)
    assert sl.prove_equal(moved[0], news[0][::-1]).verdict is sl.Verdict.PROVED
    x, g, v, h = RNG.random((4, 3))
    values = {"x": x, "g": g, "v": v, "h": h, "r": np.float64(0.1), "t": np.int64(3)}
    v, h = 0.9 * v + 0.1 * g, 0.99 * h + 0.01 * g * g
    rate = 0.1 * np.sqrt(1 - 0.99**3) / (1 - 0.9**3)
    np.testing.assert_allclose(sl.interpret(news[0], **values), x - rate * v / (np.sqrt(h) + 1e-8))


def test_texts_are_split_normalised_matched_and_counted() -> None:
    x = sl.tensor("N", name="x")
    a = np.array(["a b", "Été"])
    parts, count = sl.onnx.string_split(x, outputs=2)
    assert sl.interpret(parts, a, dims={parts.shape[1]: 2}).tolist() == [["a", "b"], ["Été", ""]]
    assert sl.interpret(count, a).tolist() == [2, 1]
    y = sl.onnx.string_normalizer(x, case_change_action="UPPER", stopwords=["b"])
    assert sl.interpret(y, a, dims={y.shape[0]: 2}).tolist() == ["A", "ETE"]
    assert sl.interpret(sl.onnx.regex_full_match(x, pattern="[a-z ]+"), a).tolist() == [True, False]
    with pytest.raises(sl.ShapeError, match="not a regular expression"):
        sl.onnx.regex_full_match(x, pattern="(")
    assert text.sequences([1, 2, 3, 4], [0, 2]) == [(1,), (2,), (3, 4)]


def test_the_parts_of_complex_images_are_sampled_alike() -> None:
    real, imaginary = RNG.standard_normal((2, 1, 2, 3, 4)).astype(np.float32)
    grid = RNG.uniform(-1, 1, (1, 2, 2, 2)).astype(np.float32)

    def sampled(image: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        y = sl.onnx.grid_sample(sl.tensor("1, 2, 3, 4", image.dtype, "x"), sl.tensor("1, 2, 2, 2", "float32", "g"))
        found: np.ndarray[Any, Any] = sl.interpret(y, image, grid)
        return found

    np.testing.assert_allclose(sampled(real + 1j * imaginary), sampled(real) + 1j * sampled(imaginary), rtol=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("box", [(4, 4, 0, 0), (4, 4, 0, 5), (4, 0, 0, 5)], ids=str)
@pytest.mark.parametrize("mode", ["avg", "max"])
def test_a_box_that_ends_before_it_starts_has_zeros(box: tuple[int, ...], mode: str) -> None:
    x, rois, batch = np.ones((1, 2, 6, 6), np.float32), np.array([box], np.float32), np.array([0])
    leaves = [sl.tensor(a.shape, a.dtype, name=name) for name, a in (("x", x), ("rois", rois), ("batch", batch))]
    y = sl.onnx.roi_align(*leaves, output_height=2, output_width=2, mode=mode)
    assert not sl.interpret(y, x, rois, batch).any()
