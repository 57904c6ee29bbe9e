"""OpenVINO's operations, compared with openvino."""
