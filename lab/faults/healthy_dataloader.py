"""A control: nothing is broken, loader.py runs to its end."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing",
    cause=None,
    environment="torch-cpu",
    program=("python", "loader.py"),
    inject=lambda world: None,
    stack="pytorch",
)
