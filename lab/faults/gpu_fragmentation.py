"""Memory in pieces."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="half of the reserved memory is free, in pieces too small for the request",
    cause="memory-fragmentation",
    acceptable=("gpu-out-of-memory",),
    environment="given",
    program=("python", "gpu_misuse.py", "fragments"),
    inject=lambda world: None,
    mend=mend,
    mended="a request that fits into a piece",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
