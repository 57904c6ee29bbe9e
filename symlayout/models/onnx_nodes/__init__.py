"""Nodes of ONNX that are more than an operation on tensors: control flow and sequences."""
