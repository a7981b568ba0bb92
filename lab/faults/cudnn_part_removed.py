"""One part of cuDNN is gone, the main library is there."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Delete the graph part, which the main library opens first."""
    world.remove("nvidia/cudnn/lib/libcudnn_graph.so.9")


FAULT = Fault(
    breaks="libcudnn_graph.so.9 is deleted, libcudnn.so.9 is there",
    cause="cudnn-sublibrary-mismatch",
    acceptable=("incomplete-install",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cudnn-cu12==9.1.0.70"),
    mended="nvidia-cudnn-cu12==9.1.0.70 is installed again",
)
