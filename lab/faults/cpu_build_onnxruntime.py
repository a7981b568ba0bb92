"""ONNX Runtime was installed as its CPU package."""

from lab.fault import Fault

FAULT = Fault(
    breaks="onnxruntime is installed, the service asks for CUDAExecutionProvider",
    cause="cpu-only-build",
    environment="ort-cpu",
    program=("python", "serve.py", "gpu"),
    inject=lambda world: None,
    mend=lambda world: world.change("ort"),
    mended="onnxruntime-gpu is installed instead",
    afterwards="other",
    ci=True,
    stack="onnxruntime",
)
