"""LD_LIBRARY_PATH leads to an older NCCL."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Put NCCL 2.14 in front of the wheel's 2.21."""
    world.front(world.cache.wheel("nvidia-nccl-cu11==2.14.3") / "nvidia/nccl/lib")


def mend(world: World) -> None:
    """Take the folder off LD_LIBRARY_PATH."""
    del world.variables["LD_LIBRARY_PATH"]


FAULT = Fault(
    breaks="LD_LIBRARY_PATH leads to NCCL 2.14, the wheel brings 2.21",
    cause="library-shadowing",
    acceptable=("nccl-version-mismatch",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=mend,
    mended="the folder is taken off LD_LIBRARY_PATH",
)
