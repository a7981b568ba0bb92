"""libnccl.so.2 was cut off by a full disk."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Keep the first half megabyte."""
    content = world.file("nvidia/nccl/lib/libnccl.so.2").read_bytes()
    world.replace("nvidia/nccl/lib/libnccl.so.2", content[: 1 << 19])


FAULT = Fault(
    breaks="libnccl.so.2 is cut to its first 512 KiB",
    cause="incomplete-install",
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-nccl-cu12==2.21.5"),
    mended="nvidia-nccl-cu12==2.21.5 is installed again",
)
