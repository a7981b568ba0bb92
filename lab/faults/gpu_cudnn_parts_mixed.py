"""One part of cuDNN is of another release, on a machine where it is wanted."""

from lab.fault import Fault
from lab.faults.gpu_cudnn_older_in_front import older
from lab.world import World


def inject(world: World) -> None:
    """Put the graph part of an older cuDNN 9 among the others."""
    part = "nvidia/cudnn/lib/libcudnn_graph.so.9"
    world.replace(part, (older(world) / "libcudnn_graph.so.9").read_bytes())


FAULT = Fault(
    breaks="libcudnn_graph.so.9 is of an older release than the other parts",
    cause="cudnn-sublibrary-mismatch",
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=World.reset,
    mended="the parts are of one release again",
    needs=("torch-gpu",),
)
