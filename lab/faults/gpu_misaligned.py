"""A kernel writes to a misaligned address."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a kernel writes a double to an odd address",
    cause="illegal-memory-access",
    environment="given",
    program=("./kernels", "misaligned"),
    inject=lambda world: world.compile("kernels.cu", "kernels"),
    mend=mend,
    mended="the kernel is launched as it should be",
    settled=False,
    in_program=True,
    needs=("torch-gpu", "nvcc"),
    stack="other",
)
