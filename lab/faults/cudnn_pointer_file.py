"""libcudnn.so.9 is a Git LFS pointer: a text file of three lines."""

from lab.fault import Fault
from lab.world import World

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4f" * 32 + b"\nsize 104664\n"


def inject(world: World) -> None:
    """Put the pointer in the library's place."""
    world.replace("nvidia/cudnn/lib/libcudnn.so.9", POINTER)


FAULT = Fault(
    breaks="a Git LFS pointer stands in the place of libcudnn.so.9",
    cause="incomplete-install",
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cudnn-cu12==9.1.0.70"),
    mended="nvidia-cudnn-cu12==9.1.0.70 is installed again",
)
