"""jaxlib is older than jax accepts."""

from lab.fault import Fault

FAULT = Fault(
    breaks="jax is 0.4.38, jaxlib is 0.4.20",
    cause="conflicting-packages",
    environment="jax",
    program=("python", "fit_jax.py"),
    inject=lambda world: world.install("jaxlib==0.4.20"),
    mend=lambda world: world.install("jaxlib==0.4.38"),
    mended="jaxlib 0.4.38 is installed",
    stack="jax",
)
