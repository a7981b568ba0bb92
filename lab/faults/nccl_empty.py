"""libnccl.so.2 is an empty file: the disk was full when it was written."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Keep its name only."""
    world.replace("nvidia/nccl/lib/libnccl.so.2", b"")


FAULT = Fault(
    breaks="libnccl.so.2 is an empty file",
    cause="incomplete-install",
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-nccl-cu12==2.21.5"),
    mended="nvidia-nccl-cu12==2.21.5 is installed again",
)
