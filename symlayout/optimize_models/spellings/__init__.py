"""How a movement is spelled in ONNX's operations: candidates from its digits, and the cheapest that is proved."""
