"""nvcc is asked for an architecture that it does not know."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Ask for one that CUDA 13 dropped and CUDA 12 never heard of together with Hopper's."""
    world.variables["NVCC_APPEND_FLAGS"] = "-gencode arch=compute_90,code=sm_90 -gencode arch=compute_61,code=sm_61"


def mend(world: World) -> None:
    """Ask only for what it knows."""
    world.variables["NVCC_APPEND_FLAGS"] = "-gencode arch=compute_90,code=sm_90"


FAULT = Fault(
    breaks="nvcc 13 is asked for sm_61, which it dropped",
    cause="arch-flag-unsupported",
    environment="torch-cpu",
    program=("nvcc", "-c", "blur.cu"),
    inject=inject,
    mend=mend,
    mended="only sm_90 is asked for",
    in_program=True,
    needs=("nvcc-13", "g++"),
    stack="other",
)
