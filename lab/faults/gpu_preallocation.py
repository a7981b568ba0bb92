"""JAX takes nearly all GPU memory before PyTorch wants a cuDNN handle."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="JAX preallocates 99.5 % of the card in the same process",
    cause="framework-preallocates-memory",
    acceptable=(
        "gpu-out-of-memory",
        "gpu-memory-held-by-others",
    ),
    environment="given",
    program=("python", "gpu_misuse.py", "preallocated"),
    inject=lambda world: None,
    mend=mend,
    mended="XLA_PYTHON_CLIENT_PREALLOCATE=false",
    settled=False,
    in_program=True,
    needs=("torch-gpu", "jax"),
)
