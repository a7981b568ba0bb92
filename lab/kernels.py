"""Faults of a kernel in programs/kernels.cu: the program is built with nvcc, and mended by launching the kernel as it should be."""

from lab.fault import Fault
from lab.world import World


def _mend(world: World) -> None:
    world.arguments = ("right",)


def kernel_fault(breaks: str, cause: str, kernel: str) -> Fault:
    """A fault that one kernel of the program makes; ``kernel`` is the program's argument."""
    return Fault(
        breaks=breaks,
        cause=cause,
        environment="given",
        program=("./kernels", kernel),
        inject=lambda world: world.compile("kernels.cu", "kernels"),
        mend=_mend,
        mended="the kernel is launched as it should be",
        settled=False,
        in_program=True,
        needs=("torch-gpu", "nvcc"),
        stack="other",
    )
