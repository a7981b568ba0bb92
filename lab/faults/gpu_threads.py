"""A kernel is launched with 2048 threads in a block."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a block of 2048 threads",
    cause="launch-resources",
    environment="given",
    program=("./kernels", "threads"),
    inject=lambda world: world.compile("kernels.cu", "kernels"),
    mend=mend,
    mended="the kernel is launched as it should be",
    settled=False,
    in_program=True,
    needs=("torch-gpu", "nvcc"),
    stack="other",
)
