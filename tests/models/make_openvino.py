"""Convert exported networks to OpenVINO's IR: ``python -m tests.models.make_openvino``.  Needs openvino.

The files lie beside the ``.onnx`` files that they are made of.  OpenVINO writes version 11 of its format.  A file of
version 10 is the same graph as the converters before 2022 wrote it: without names of tensors, with sizes for all axes,
with operations of the sets of its time, and with the converter's notes.
"""

# mypy: disable-error-code="import-untyped, import-not-found"

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from xml.etree import ElementTree

from tests.models.compare_shapes import FOLDER

NETWORKS = (
    "bert_batch", "bert_dynamic", "convnext_dynamic", "deeplab_dynamic", "detector_dynamic", "gru_dynamic",
    "llama_dynamic", "lstm_dynamic", "mobilenet_dynamic", "resnet_dynamic", "resnet_static", "segformer_dynamic",
    "shufflenet_dynamic", "swin_dynamic", "unet_dynamic", "unet_transposed_dynamic", "vit_dynamo", "xcit_dynamic",
)  # fmt: skip
OLD = ("mobilenet_dynamic", "resnet_static")  # which have operations of that time only


def convert(name: str) -> None:
    """Write the network *name* as OpenVINO saves it."""
    import openvino

    model = openvino.convert_model(FOLDER / f"{name}.onnx")
    openvino.save_model(model, FOLDER / f"{name}.xml", compress_to_fp16=False)


def convert_to_version_10(name: str) -> None:
    """Write the network *name* as version 10 of the format has it."""
    tree = ElementTree.parse(FOLDER / f"{name}.xml")
    net = tree.getroot()
    net.set("version", "10")
    for parent in list(net.iter()):
        for notes in parent.findall("rt_info"):
            parent.remove(notes)
    for port in net.iter("port"):
        port.attrib.pop("names", None)
    for layer in net.iter("layer"):
        if layer.get("type") == "MaxPool":  # the first version has no indices
            layer.set("version", "opset1")
            data, outputs = layer.find("data"), layer.find("output")
            assert data is not None
            assert outputs is not None
            for attribute in ("axis", "index_element_type", "dilations"):
                data.attrib.pop(attribute, None)
            outputs.remove(outputs.findall("port")[1])
    notes = ElementTree.SubElement(net, "meta_data")
    ElementTree.SubElement(notes, "MO_version", value="2021.4")
    stem = f"{name.partition('_')[0]}_v10"
    tree.write(FOLDER / f"{stem}.xml", encoding="utf-8", xml_declaration=True)
    shutil.copyfile(FOLDER / f"{name}.bin", FOLDER / f"{stem}.bin")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the networks to convert; all if none")
    wanted = parser.parse_args().names
    for name in NETWORKS:
        if not wanted or name in wanted:
            convert(name)
            if name in OLD:
                convert_to_version_10(name)
            sizes = [Path(FOLDER / f"{name}{end}").stat().st_size for end in (".xml", ".bin")]
            print(f"{name:32} {sizes[0]:>8} and {sizes[1]:>8} bytes", flush=True)


if __name__ == "__main__":
    main()
