"""A control: nothing is broken, fit_jax.py runs to its end."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing",
    cause=None,
    environment="jax",
    program=("python", "fit_jax.py"),
    inject=lambda world: None,
    stack="jax",
)
