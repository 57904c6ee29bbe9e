"""Linear layouts over the field of two elements, as Triton has them."""
