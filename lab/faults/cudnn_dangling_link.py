"""libcudnn.so.9 is a link to a file that was deleted."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Leave a link to the file name that the archives of cuDNN use."""
    world.remove("nvidia/cudnn/lib/libcudnn.so.9").symlink_to("libcudnn.so.9.1.0")


FAULT = Fault(
    breaks="libcudnn.so.9 is a link to libcudnn.so.9.1.0, which is not there",
    cause="incomplete-install",
    acceptable=("cudnn-not-found",),  # the loader says no more than that the file does not exist
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cudnn-cu12==9.1.0.70"),
    mended="nvidia-cudnn-cu12==9.1.0.70 is installed again",
)
