"""A kernel reads far beyond its array."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a kernel reads and writes beyond its array",
    cause="illegal-memory-access",
    environment="given",
    program=("./kernels", "illegal"),
    inject=lambda world: world.compile("kernels.cu", "kernels"),
    mend=mend,
    mended="the kernel is launched as it should be",
    settled=False,
    in_program=True,
    needs=("torch-gpu", "nvcc"),
    stack="other",
)
