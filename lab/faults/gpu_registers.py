"""A kernel with 200 registers a thread is launched with 1024 threads in a block."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a block of 1024 threads of a kernel that needs more registers than the GPU has for them",
    cause="launch-resources",
    environment="given",
    program=("./kernels", "registers"),
    inject=lambda world: world.compile("kernels.cu", "kernels"),
    mend=mend,
    mended="the kernel is launched as it should be",
    settled=False,
    in_program=True,
    needs=("torch-gpu", "nvcc"),
    stack="other",
)
