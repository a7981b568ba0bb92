"""A program that includes cudnn.h is compiled where there is none."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Show the compiler the headers of the cuDNN wheel."""
    world.variables["CPATH"] = str(world.file("nvidia/cudnn/include"))


FAULT = Fault(
    breaks="cudnn.h is not among the headers that nvcc finds",
    cause="cuda-home-missing",
    acceptable=("cudnn-not-found", "incomplete-install"),
    environment="torch-cuda",
    program=("nvcc", "-c", "conv.cu"),
    inject=lambda world: None,
    mend=mend,
    mended="CPATH leads to the headers of the cuDNN wheel",
    needs=("nvcc", "g++", "no-cudnn-header"),
    stack="other",
)
