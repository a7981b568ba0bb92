"""A control: nothing is broken, training runs on the GPU to its end."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing",
    cause=None,
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=lambda world: None,
    needs=("torch-gpu",),
)
