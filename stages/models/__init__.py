"""Model files as stages read them: fastText, ONNX, n-gram language models, and our own classifiers."""
