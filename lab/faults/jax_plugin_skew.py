"""The CUDA plugin of JAX stayed behind when jax and jaxlib were upgraded."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Install the plugin of an older release."""
    world.install("jax-cuda12-plugin==0.4.30", "jax-cuda12-pjrt==0.4.30")


def mend(world: World) -> None:
    """Install the plugin of the same release."""
    world.install("jax-cuda12-plugin==0.4.38", "jax-cuda12-pjrt==0.4.38")


FAULT = Fault(
    breaks="jax and jaxlib are 0.4.38, the CUDA plugin is 0.4.30",
    cause="conflicting-packages",
    acceptable=("abi-mismatch",),
    environment="jax",
    program=("python", "fit_jax.py"),
    inject=inject,
    mend=mend,
    mended="jax-cuda12-plugin and -pjrt 0.4.38 are installed",
    afterwards="other",
    stack="jax",
)
