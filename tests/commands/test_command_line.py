"""The command line: what it prints, its JSON, its exit statuses, and how it fails."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import symlayout as sl
from symlayout.commands import cache_folder, subject
from symlayout.show import small_sizes
from tests.commands.outcome import CROP, MODELS, PAD, Command, process
from tests.support.paths import ROOT


def test_infer_prints_shape_requirements_and_bounds(symlayout: Command) -> None:
    done = symlayout("infer", "N,H,W,C", "tensorflow:SpaceToBatchND(block_shape=[2,b>=1], paddings=[[1,1],[0,0]])")
    assert done.status == 0
    assert done.out == (
        "shape     (2*N*b, H/2 + 1, W/b, C)\n"
        "requires  H is a multiple of 2  [step 1: tensorflow:SpaceToBatchND]\n"
        "          W is a multiple of b  [step 1: tensorflow:SpaceToBatchND]\n"
        "bounds    axis 0: at least 0\n"
        "          axis 1: at least 1\n"
        "          axis 2: at least 0\n"
        "          axis 3: at least 0\n"
    )
    assert done.err == ""


def test_the_chain_of_the_contract(symlayout: Command) -> None:
    done = symlayout("infer", "N,C,2*h,2*w", "onnx:SpaceToDepth(blocksize=2)", "transpose(0,2,3,1)", "--json")
    assert done.data == {
        "shape": ["N", "h", "w", "4*C"],
        "requires": [],
        "dims": {"N": [0, None], "C": [0, None], "h": [0, None], "w": [0, None]},
        "dtype": None,
        "bounds": [[0, None]] * 4,
        "asked_by": [],
    }


def test_a_requirement_names_every_step_that_asks_for_a_part_of_it(symlayout: Command) -> None:
    done = symlayout("infer", "N, H/2", "pad([[0,0],[1,2]])", "reshape(N, -1, 3)", "[:, 1:]", "--json")
    assert done.data["requires"] == ["H % 6 == 0", "N >= 1"]
    assert done.data["asked_by"] == [["the input", "step 2: reshape"], ["step 2: reshape"]]
    again = symlayout("infer", "N, H/2", "[::2]", "[:, 3:]", "space_to_batch([5], [[0,0]])")
    assert "[the input]" in again.out
    assert "[step 3: space_to_batch]" in again.out


def test_what_a_model_requires_is_asked_by_its_nodes(symlayout: Command) -> None:
    model, node = str(MODELS / "round_trip_dynamic.xml"), "node 'SpaceToBatch_99', SpaceToBatch"
    assert symlayout("infer", model, "--json").data["asked_by"] == [[node]] * 2
    assert symlayout("explain", model).out.count(f"  asked by  {node}\n") == 2
    asked = symlayout("infer", model, "[:, :, 1:, 3:]", "--json").data
    assert dict(zip(asked["requires"], asked["asked_by"], strict=True)) == {
        "(data.2) % 2 == 0": [node],
        "(data.3) % 2 == 1": [node],
    }


def test_the_table_of_a_model_names_the_nodes_that_ask(symlayout: Command) -> None:
    model = str(ROOT / "tests" / "models" / "exported" / "unet_dynamic.onnx")
    done = symlayout("infer", model, "--all", "--dim", "W=16")
    assert "requires  H is at least 1  [node '/a/a.0/Conv', Conv]\n" in done.out
    assert "H is a multiple of 2  [node '/Concat', Concat]" in done.out
    assert "(N, 2, H, 16)" in done.out


def test_infer_solves_for_the_inputs_of_an_output_shape(symlayout: Command) -> None:
    done = symlayout("infer", "N,H,W,C", PAD, "--solve", "4*n, 5, ?, 3")
    assert done.status == 0
    assert done.out.endswith(
        "solve     family\nx         (n, 8, W, 3)\nwhere     N = n\n          H = 8\n          C = 3\n"
        "if        W is a multiple of 2\n"
    )
    data = symlayout("infer", "N,H,W,C", PAD, "--solve", "4,5,6,3", "--json").data["solve"]
    assert data == {
        "status": "unique",
        "dims": {"N": 1, "H": 8, "W": 10, "C": 3},
        "relations": [],
        "points": [{"N": 1, "H": 8, "W": 10, "C": 3}],
        "inputs": {"x": [1, 8, 10, 3]},
        "reason": "",
    }
    none = symlayout("infer", "N,H,W,C", PAD, "--solve", "6,5,?,3")
    assert none.status == 1
    assert "solve     none: no sizes allow axis 0, which is 4*N, to be 6\n" in none.out
    assert symlayout("infer", "N", "--solve", "1,2").err.startswith("ShapeError (rank): ")


def test_a_shape_that_is_printed_is_read_again(symlayout: Command) -> None:
    (shape,) = [line for line in symlayout("infer", "N,H,W,C", PAD).out.splitlines() if line.startswith("shape")]
    again = symlayout("infer", shape.removeprefix("shape").strip())
    assert again.out.splitlines()[0] == shape
    assert "H is a multiple of 2" in again.out


@pytest.mark.parametrize(
    ("shape", "steps", "expected"),
    [
        ("-1,3", [], ["x.0", 3]),
        ("()", [], []),
        ("2..2, 1..8", ["flip(0)"], [2, "x.1"]),
        ("N,M", ["[1:3, ::-1]", "reshape(-1)"], None),
        ("2,3", ["reshape(3, -1)"], [3, 2]),
        ("2,3,4", ["transpose((2, 0, 1))", "transpose(2,1,0)"], [3, 2, 4]),
        ("4,4", ["pad(1, mode=constant, constant_values=-inf)"], [6, 6]),
        ("4,4", ["resize_nearest(scale=3/2)"], [6, 6]),
        ("4,4", ["resize_nearest(scale=[1/2, 3/2*2])"], [2, 12]),
    ],
)
def test_steps(symlayout: Command, shape: str, steps: list[str], expected: list[Any] | None) -> None:
    done = symlayout("infer", shape, *steps, "--json")
    assert done.status == 0, done.err
    assert expected is None or done.data["shape"] == expected


def test_standard_input_gives_shape_and_steps(symlayout: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("1,3,4,4\n\n# halve it\nonnx:SpaceToDepth(blocksize=2)\n"))
    assert symlayout("infer", "-", "--json").data["shape"] == [1, 12, 2, 2]
    monkeypatch.setattr(sys, "stdin", io.StringIO("flip(0)\ntranspose(1,0)"))
    assert symlayout("infer", "2,3", "-", "--json").data["shape"] == [3, 2]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    assert "standard input is empty" in symlayout("infer", "-").err


def test_standard_input_gives_both_sides_of_a_claim(symlayout: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    left, right = "N,H\ntranspose(1,0)\nflip(0)\n", "flip(1)\ntranspose(1,0)\n"

    def proved(text: str, *words: str) -> Any:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        return symlayout("prove", *words, "--json")

    assert proved(f"{left}--\n{right}", "-").data["verdict"] == "proved"
    assert proved(f"{left}--\nflip(0)\ntranspose(1,0)\n", "-").data["verdict"] == "refuted"
    assert proved("flip(0)\nflip(0)\n--\n", "N", "-").data["verdict"] == "proved"  # no right side: the identity
    assert proved(right, "N,H", "transpose(1,0)", "flip(0)", "--", "-").data["verdict"] == "proved"
    assert "stands in standard input and on the command line" in proved(f"{left}--\n{right}", "-", "--", "flip(0)").err
    assert "no shape stands before --" in proved(f"--\n{right}", "-").err
    assert proved(f"{left}--\n{right}--\nflip(0)\n", "-").status == 4  # a claim has two sides


def test_a_model_stands_for_shape_and_steps(symlayout: Command) -> None:
    model = MODELS / "space_to_depth.xml"
    assert symlayout("infer", model, "--json").data["shape"] == [5, 28, 2, 3]
    same = symlayout("prove", model, "--", "openvino:SpaceToDepth-1(block_size=2, mode=blocks_first)")
    assert same.status == 0, same.out + same.err
    other = symlayout("prove", model, "--", "openvino:SpaceToDepth-1(block_size=2, mode=depth_first)")
    assert other.status == 1
    assert "REFUTED" in other.out


def test_prove_the_round_trip(symlayout: Command) -> None:
    done = symlayout("prove", "N,H,W,C", PAD, CROP)
    assert done.status == 0
    assert done.out.startswith("PROVED\n")
    assert symlayout("prove", "N,H,W,C", PAD, CROP, "--json").data["verdict"] == "proved"


def test_a_refutation_has_a_witness(symlayout: Command) -> None:
    done = symlayout("prove", "N,H,W", "flip(1)", "--", "flip(2)", "--json")
    assert done.status == 1
    witness = done.data["witness"]
    dims, (n, i, j) = witness["dims"], witness["coord"]
    assert 0 <= n < dims["N"]
    assert (dims["H"] - 1 - i, j) != (i, dims["W"] - 1 - j)
    assert done.data["verdict"] == "refuted"
    assert done.data["explanation"]


def test_a_name_is_one_dim_on_both_sides(symlayout: Command) -> None:
    left = "space_to_batch([b>=1, b], [[p,p],[0,0]])"
    done = symlayout("prove", "N,H,W", left, "--", "space_to_batch([b, b], [[p,p],[0,0]])")
    assert done.status == 0, done.out + done.err


def test_only_prove_has_a_right_side(symlayout: Command) -> None:
    done = symlayout("infer", "N", "--", "flip(0)")
    assert done.status == 2
    assert "-- separates the two sides of prove" in done.err


def test_show_draws_what_the_map_reads(symlayout: Command, tmp_path: Path) -> None:
    svg = tmp_path / "map.svg"
    done = symlayout("show", "H,W", "pad([[1,0],[0,2]])", "flip(1)", "--dims", "H=2,W=3", "--svg", svg, "--json")
    assert done.status == 0, done.err
    x = sl.tensor("H, W", name="x")
    numbers = sl.interpret(sl.flip(sl.pad(x, [[1, 0], [0, 2]], constant_values=-1), 1), np.arange(6).reshape(2, 3))
    assert done.data["picture"] == numbers.tolist()
    assert done.data["dims"] == {"H": 2, "W": 3}
    assert "drawn" not in done.data
    assert done.data["svg"] == str(svg)
    assert ElementTree.parse(svg).getroot().findtext("{http://www.w3.org/2000/svg}title")


def test_show_prints_map_digits_and_picture(symlayout: Command) -> None:
    out = symlayout("show", "H,W", "pad([[1,0],[0,2]])", "--dims", "H=2,W=2").out
    assert "(i0, i1) -> (i0 - 1, i1) if 0 <= i0 - 1 < H and 0 <= i1 < W else 0" in out
    assert "i0: output axis 0 < H + 1" in out
    assert out.endswith("picture   H = 2, W = 2\n          . . . .\n          0 1 . .\n          2 3 . .\n")


@pytest.mark.parametrize("shape", ["N, 2*h, 3*w", "H, W", "7, b>=3", "?, 4..6"])
def test_small_dims_satisfy_the_chain(shape: str) -> None:
    (t,) = subject.build([shape, "[..., ::2]"])
    bound, dims = small_sizes.small(t)
    assert all(isinstance(e, int) and e > 0 for e in bound.shape)
    assert dims


def test_what_has_no_digits_is_shown_all_the_same(symlayout: Command) -> None:
    chain = ["N,M", "transpose()", "reshape(a,-1)", "flip(0)", "reshape(b,-1)"]
    done = symlayout("show", *chain, "--dims", "N=2,M=3,a=2,b=3")
    assert done.status == 0, done.err
    assert "digits    none: cannot decide whether " in done.out
    x = np.arange(6).reshape(2, 3)
    assert symlayout("show", *chain, "--dims", "N=2,M=3,a=2,b=3", "--json").data["picture"] == (
        x.T.reshape(2, -1)[::-1].reshape(3, -1).tolist()
    )


def test_of_a_large_shape_both_ends_are_shown(symlayout: Command) -> None:
    done = symlayout("show", "1000,1000", "transpose()", "--json")
    first, last = done.data["shown"]
    assert first[0] == last[0] == 0
    assert first[-1] == last[-1] == 999
    assert done.data["picture"] == [[1000 * j + i for j in last] for i in first]
    assert "shown are 0, 1," in symlayout("show", "1000,1000").out


@pytest.mark.slow
def test_run_computes_and_writes(symlayout: Command, tmp_path: Path) -> None:
    array = np.arange(2 * 3 * 4 * 6, dtype=np.int16).reshape(2, 3, 4, 6)
    np.save(tmp_path / "a.npy", array)
    chain = ["N,C,2*h,2*w", "onnx:SpaceToDepth(blocksize=2)", "transpose(0,2,3,1)"]
    done = symlayout("run", *chain, "-i", tmp_path / "a.npy", "-o", tmp_path / "b.npy", "--json")
    assert done.data == {"shape": [2, 2, 3, 12], "dtype": "int16", "out": str(tmp_path / "b.npy")}
    expected = array.reshape(2, 3, 2, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 12, 2, 3).transpose(0, 2, 3, 1)
    result = np.load(tmp_path / "b.npy")
    assert result.dtype == np.int16
    assert np.array_equal(result, expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "b.npy"]


@pytest.mark.slow
def test_run_takes_dims_that_the_array_does_not_determine(symlayout: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.arange(4.0).reshape(4, 1, 1))
    words = ["run", "N,H,W", "batch_to_space([b>=1, c>=1], [[0,0],[0,0]])"]
    files = ["-i", tmp_path / "a.npy", "-o", tmp_path / "b.npy"]
    unbound = symlayout(*words, *files)
    assert unbound.status == 4
    assert unbound.err.startswith("ShapeError (unbound_dim): ")
    assert not (tmp_path / "b.npy").exists()
    assert symlayout(*words, *files, "--dims", "b=2,c=2").status == 0
    assert np.load(tmp_path / "b.npy").tolist() == [[[0, 1], [2, 3]]]


@pytest.mark.slow
def test_run_reads_and_writes_streams(tmp_path: Path) -> None:
    source = io.BytesIO()
    np.save(source, np.array([[1, 2, 3]], dtype=np.uint8))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with process("run", "N,M", "flip(1)", "-i", "-", "-o", "-", **pipes) as running:
        out, err = running.communicate(source.getvalue())
    assert (running.returncode, err) == (0, b"")
    assert np.load(io.BytesIO(out)).tolist() == [[3, 2, 1]]


@pytest.mark.parametrize(
    "content",
    [b"", b"\x93NUMPY", b"PK\x03\x04zip", b"cos\nsystem\n(S'true'\ntR.", b"\x93NUMPY\x01\x00\xff\xff{"],
)
def test_run_refuses_what_is_no_array(symlayout: Command, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    done = symlayout("run", "N", "-i", tmp_path / "a.npy", "-o", tmp_path / "b.npy")
    assert done.status == 4
    assert done.err.startswith("FormatError: ")
    assert "is not a .npy array" in done.err


def test_run_unpickles_nothing(symlayout: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{}], dtype=object), allow_pickle=True)
    done = symlayout("run", "N", "-i", tmp_path / "a.npy", "-o", tmp_path / "b.npy")
    assert done.status == 4
    assert done.err.startswith("FormatError: ")


def test_a_result_that_cannot_be_written_leaves_what_was_there(symlayout: Command, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros((3, 5)))
    (tmp_path / "b.npy").write_bytes(b"before")
    done = symlayout("run", "N,2*h", "-i", tmp_path / "a.npy", "-o", tmp_path / "b.npy")
    assert done.status == 4
    assert (tmp_path / "b.npy").read_bytes() == b"before"
    missing = symlayout("run", "N,M", "-i", tmp_path / "a.npy", "-o", tmp_path / "no" / "b.npy")
    assert missing.status == 4
    assert missing.err.startswith("FileNotFoundError: ")


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_emit_writes_c_that_compiles_alone(symlayout: Command, tmp_path: Path) -> None:
    chain = ["N,H,W,C", "transpose(0,3,1,2)", "pad([[0,0],[0,0],[1,1],[1,1]])"]
    done = symlayout("emit", *chain, "--dims", "W=8", "--name", "to_nchw", "--dtype", "float64", "-o", tmp_path / "c")
    assert done.status == 0, done.err
    text = (tmp_path / "c" / "to_nchw.c").read_text()
    assert "#define SL_ELEMENT_SIZE 8" in text
    assert "int64_t W" not in text
    assert "Regenerate: symlayout emit N,H,W,C 'transpose(0,3,1,2)'" in text
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    subprocess.run(["cc", *flags, "-c", "to_nchw.c", "-o", "to_nchw.o"], cwd=tmp_path / "c", check=True)


def test_emit_keeps_text_inside_its_comment(symlayout: Command, tmp_path: Path) -> None:
    hostile = "transpose(1, 0) " + " " * 5
    done = symlayout("emit", "N,M\t", hostile, "-o", tmp_path, "--name", "k")
    assert done.status == 0
    assert (tmp_path / "k.c").read_text().count("*/\n#include") == 1
    for name in ("a b", "../k", "1k", "", "k;", "k" * 41, "while", "class", "int64_t", "sl_min"):
        assert symlayout("emit", "N", "-o", tmp_path, "--name", name).err.startswith("FormatError: ")


def test_ops_lists_all_of_them(symlayout: Command) -> None:
    listed = [op["name"] for op in symlayout("ops", "--json").data["ops"]]
    assert {"transpose", "openvino:BatchToSpace-2", "torch:pixel_shuffle"} <= set(listed)
    assert [op["name"] for op in symlayout("ops", "OpenVINO", "depth", "--json").data["ops"]] == [
        "openvino:DepthToSpace-1",
        "openvino:SpaceToDepth-1",
    ]
    assert symlayout("ops", "nothing").status == 1


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_doctor_compiles_something(symlayout: Command) -> None:
    done = symlayout("doctor", "--json")
    assert done.status == 0
    assert done.data["compiler"]["works"] is True
    assert set(done.data["needs"]) == {"sympy", "numpy", "cffi", "platformdirs", "rich", "shtab"}


def test_doctor_says_that_there_is_no_compiler(symlayout: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/no/such/compiler")
    done = symlayout("doctor")
    assert done.status == 1
    assert "no C compiler found" in done.out


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder, in use for the test."""
    root = tmp_path / "cache"
    root.mkdir(mode=0o700)
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(root))
    return root


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_cache_verifies_and_prunes(symlayout: Command, cache: Path, tmp_path: Path) -> None:
    for n in (3, 5):
        sl.compile(sl.flip(sl.tensor((n, 17), name="x")), strict=True)
    everything = [entry.path for entry in cache_folder.entries(cache)]  # what kernels share too, unless it is loaded
    entries = [path for path in everything if "kernel : (i0, i1) -> (" in (path / "kernel.c").read_text()]
    assert len(entries) == 2
    assert symlayout("cache").out.count("(i0, i1) -> (") == 2
    assert symlayout("cache", "--json").data["entries"] == len(everything)
    assert symlayout("cache", "verify").status == 0
    library = next(entries[0].glob("*.so"))
    library.chmod(0o600)
    library.write_bytes(library.read_bytes()[:-1] + b"x")
    assert symlayout("cache", "verify", "--json").data["refused"] == [entries[0].name]
    assert symlayout("cache", "verify").status == 1
    assert symlayout("cache", "prune", "--json").data["removed"] == [entries[0].name]
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("keep")
    (cache / ("0" * 64)).symlink_to(precious)
    (cache / "not an entry").write_text("keep")
    assert symlayout("cache", "prune", "--all").status == 0
    assert [path.name for path in cache.iterdir()] == ["not an entry"]
    assert (precious / "file").read_text() == "keep"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_cache_is_pruned_to_a_size_oldest_first(symlayout: Command, cache: Path) -> None:
    for n in (23, 29, 31):  # no kernels that another test compiled
        sl.compile(sl.flip(sl.tensor((n, 17), name="x")), strict=True)
    kept = cache_folder.entries(cache)
    for age, entry in enumerate(kept):
        os.utime(entry.path, (1e9 - age, 1e9 - age))  # the first is the youngest now
    left = cache / ".staging-killed"
    left.mkdir()
    os.utime(left, (1e9, 1e9))
    done = symlayout("cache", "prune", "--max-bytes", str(kept[0].size + kept[1].size), "--json")
    assert done.data["removed"] == [kept[2].path.name]
    assert done.data["leftovers"] == 1
    assert not left.exists()
    assert symlayout("cache", "prune", "--max-bytes", "1M", "--json").data["removed"] == []
    assert symlayout("cache", "prune", "--max-bytes", "0", "--json").data["removed"] == [
        entry.path.name for entry in (kept[1], kept[0])
    ]
    assert symlayout("cache", "prune", "--max-bytes", "1T").status == 2
    assert symlayout("cache", "--max-bytes", "1M").status == 2


def test_a_cache_that_others_may_write_to_is_left_alone(symlayout: Command, cache: Path) -> None:
    (cache / ("0" * 64)).mkdir()
    cache.chmod(0o777)
    done = symlayout("cache", "prune", "--all", "--json")
    assert done.data["state"] == "not used, others may write to it"
    assert done.data["removed"] == []
    assert (cache / ("0" * 64)).is_dir()


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_bench_measures_the_kernel_beside_memcpy_and_numpy(symlayout: Command) -> None:
    done = symlayout("bench", "N,H,W,C", "transpose(0,3,1,2)", "--seconds", "0", "--peers", "numpy", "--json")
    assert done.status == 0, done.err
    assert {"kernel", "memcpy", "interpreter", "numpy"} <= set(done.data["seconds"])
    assert done.data["differs"] == []
    assert 1 << 18 <= done.data["bytes"] <= 1 << 20
    assert all(taken["rounds"] >= 3 for taken in done.data["seconds"].values())
