"""A control: nothing is broken, serve.py runs to its end."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing",
    cause=None,
    environment="ort-cpu",
    program=("python", "serve.py"),
    inject=lambda world: None,
    ci=True,
    stack="onnxruntime",
)
