"""A control: nothing is broken, train.py runs to its end."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing",
    cause=None,
    environment="torch-cpu",
    program=("python", "train.py"),
    inject=lambda world: None,
    ci=True,
    stack="pytorch",
)
