"""A kernel asks for 1 MiB of shared memory."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a kernel asks for more shared memory than the GPU has",
    cause="launch-resources",
    environment="given",
    program=("./kernels", "shared"),
    inject=lambda world: world.compile("kernels.cu", "kernels"),
    mend=mend,
    mended="the kernel is launched as it should be",
    settled=False,
    needs=("torch-gpu", "nvcc"),
    stack="other",
)
