"""A control: nothing is broken, fit_tf.py runs to its end."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing",
    cause=None,
    environment="tf-cpu",
    program=("python", "fit_tf.py"),
    inject=lambda world: None,
    ci=True,
    stack="tensorflow",
)
