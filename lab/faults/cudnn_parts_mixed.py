"""One part of cuDNN is of another release than the others."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Put the graph part of cuDNN 9.0 among those of 9.1."""
    older = world.cache.wheel("nvidia-cudnn-cu12==9.0.0.312") / "nvidia/cudnn/lib/libcudnn_graph.so.9"
    world.replace("nvidia/cudnn/lib/libcudnn_graph.so.9", older.read_bytes())


FAULT = Fault(
    breaks="libcudnn_graph.so.9 is of cuDNN 9.0, everything else of 9.1",
    cause="cudnn-sublibrary-mismatch",
    by_log=("cudnn-version-mismatch",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cudnn-cu12==9.1.0.70"),
    mended="nvidia-cudnn-cu12==9.1.0.70 is installed again",
)
