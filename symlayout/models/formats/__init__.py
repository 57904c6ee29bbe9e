"""What readers of formats share, and the readers of formats beside ONNX and OpenVINO's."""
