"""A cluster's module file preloads an older NCCL."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Put NCCL 2.14 into LD_PRELOAD."""
    older = world.cache.wheel("nvidia-nccl-cu11==2.14.3") / "nvidia/nccl/lib/libnccl.so.2"
    world.variables["LD_PRELOAD"] = str(older)


def mend(world: World) -> None:
    """Take it out."""
    del world.variables["LD_PRELOAD"]


FAULT = Fault(
    breaks="LD_PRELOAD names NCCL 2.14, PyTorch was built with 2.21",
    cause="library-shadowing",
    acceptable=("nccl-version-mismatch",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=mend,
    mended="LD_PRELOAD is emptied",
)
