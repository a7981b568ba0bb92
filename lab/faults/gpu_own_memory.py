"""One batch too large for the card."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a request for 1.5 times the memory of the card",
    cause="gpu-out-of-memory",
    environment="given",
    program=("python", "gpu_misuse.py", "memory"),
    inject=lambda world: None,
    mend=mend,
    mended="a smaller batch",
    in_program=True,
    needs=("torch-gpu",),
)
