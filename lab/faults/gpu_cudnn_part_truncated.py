"""A part of cuDNN was cut off by a full disk."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Keep the first 64 KiB of the ops part."""
    content = world.file("nvidia/cudnn/lib/libcudnn_ops.so.9").read_bytes()
    world.replace("nvidia/cudnn/lib/libcudnn_ops.so.9", content[: 1 << 16])


FAULT = Fault(
    breaks="libcudnn_ops.so.9 is cut to its first 64 KiB",
    cause="incomplete-install",
    acceptable=("cudnn-sublibrary-mismatch",),
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=World.reset,
    mended="the file is whole again",
    needs=("torch-gpu",),
)
