"""JAX was installed without its CUDA plugin."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Ask for the CUDA back end."""
    world.variables["JAX_PLATFORMS"] = "cuda"


def mend(world: World) -> None:
    """Install the plugin of the same release."""
    world.install("jax-cuda12-plugin==0.4.38", "jax-cuda12-pjrt==0.4.38")


FAULT = Fault(
    breaks="jax is installed without a CUDA plugin, JAX_PLATFORMS=cuda asks for it",
    cause="cpu-only-build",
    acceptable=("driver-not-loaded",),  # there is none either, and JAX asks for a device node first
    environment="jax",
    program=("python", "fit_jax.py"),
    inject=inject,
    mend=mend,
    mended="jax-cuda12-plugin and -pjrt 0.4.38 are installed",
    afterwards="other",
    needs=("no-driver",),
    stack="jax",
)
