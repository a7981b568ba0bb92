"""The main cuDNN library is gone from its wheel."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Delete libcudnn.so.9 and the parts beside it."""
    world.remove("nvidia/cudnn/lib")


FAULT = Fault(
    breaks="nvidia/cudnn/lib is deleted",
    cause="cudnn-not-found",
    acceptable=("incomplete-install",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cudnn-cu12==9.1.0.70"),
    mended="nvidia-cudnn-cu12==9.1.0.70 is installed again",
)
