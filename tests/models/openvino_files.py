"""OpenVINO model files for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.paths import ROOT

MODELS = ROOT / "examples" / "models"

# A model with two dims and one operation, as OpenVINO writes it, and its constants: [1, 5], [0, 2], [0, 0].
WEIGHTS = np.array([1, 5, 0, 2, 0, 0], "<i8").tobytes()
GOOD = """<?xml version="1.0"?>
<net name="small" version="11">
  <layers>
    <layer id="0" name="data" type="Parameter" version="opset1">
      <data shape="10,2" element_type="f32" />
      <output><port id="0" precision="FP32" names="data"><dim>10</dim><dim>2</dim></port></output>
    </layer>
    <layer id="1" name="block" type="Const" version="opset1">
      <data element_type="i64" shape="2" offset="0" size="16" />
      <output><port id="0" precision="I64"><dim>2</dim></port></output>
    </layer>
    <layer id="2" name="begin" type="Const" version="opset1">
      <data element_type="i64" shape="2" offset="16" size="16" />
      <output><port id="0" precision="I64"><dim>2</dim></port></output>
    </layer>
    <layer id="3" name="end" type="Const" version="opset1">
      <data element_type="i64" shape="2" offset="32" size="16" />
      <output><port id="0" precision="I64"><dim>2</dim></port></output>
    </layer>
    <layer id="4" name="b2s" type="BatchToSpace" version="opset2">
      <input><port id="0" /><port id="1" /><port id="2" /><port id="3" /></input>
      <output><port id="4" names="out"><dim>2</dim><dim>8</dim></port></output>
    </layer>
    <layer id="5" name="result" type="Result" version="opset1"><input><port id="0" /></input></layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="4" to-port="0" />
    <edge from-layer="1" from-port="0" to-layer="4" to-port="1" />
    <edge from-layer="2" from-port="0" to-layer="4" to-port="2" />
    <edge from-layer="3" from-port="0" to-layer="4" to-port="3" />
    <edge from-layer="4" from-port="4" to-layer="5" to-port="0" />
  </edges>
  <rt_info><info name="OpenVINO Runtime" value="2026" /></rt_info>
</net>
"""


def changed(before: str, after: str) -> str:
    """Return the good model with one text in it replaced."""
    assert GOOD.count(before) == 1, before
    return GOOD.replace(before, after)


def edge(start: int, start_port: int, end: int, end_port: int) -> str:
    """Return an edge as the model writes it."""
    return f'<edge from-layer="{start}" from-port="{start_port}" to-layer="{end}" to-port="{end_port}" />'


def extended(xml: str, layers: str, edges: str) -> str:
    """Return a model with more layers and edges."""
    return xml.replace("</layers>", layers + "</layers>").replace("</edges>", edges + "</edges>")


def write(folder: Path, xml: str | bytes, weights: bytes | None = WEIGHTS) -> Path:
    """Return the path of a model made of *xml* and *weights*."""
    path = folder / "model.xml"
    path.write_bytes(xml if isinstance(xml, bytes) else xml.encode())
    if weights is not None:
        path.with_suffix(".bin").write_bytes(weights)
    return path
