"""A part of cuDNN is gone, on a machine where it is wanted."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Delete the part that holds the convolutions' precompiled engines and the graph part."""
    for part in ("libcudnn_engines_precompiled.so.9", "libcudnn_graph.so.9"):
        world.remove(f"nvidia/cudnn/lib/{part}")


FAULT = Fault(
    breaks="libcudnn_graph.so.9 and libcudnn_engines_precompiled.so.9 are deleted",
    cause="cudnn-sublibrary-mismatch",
    acceptable=("incomplete-install",),
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=World.reset,
    mended="the files are there again",
    needs=("torch-gpu",),
)
