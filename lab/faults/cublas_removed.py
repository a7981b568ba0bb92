"""cuBLAS is gone."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Delete cuBLAS's wheel as 'pip uninstall' would."""
    world.uninstall("nvidia-cublas-cu12")


FAULT = Fault(
    breaks="nvidia-cublas-cu12 is uninstalled",
    cause="cuda-library-not-found",
    acceptable=("cuda-framework-mismatch",),  # on a machine with another toolkit, whose cuBLAS is of another major
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cublas-cu12==12.4.5.8"),
    mended="nvidia-cublas-cu12==12.4.5.8 is installed",
)
