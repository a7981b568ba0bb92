"""LD_LIBRARY_PATH leads to an older cuDNN."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Put the folder of cuDNN 9.0 on LD_LIBRARY_PATH."""
    world.front(world.cache.wheel("nvidia-cudnn-cu12==9.0.0.312") / "nvidia/cudnn/lib")


def mend(world: World) -> None:
    """Take the folder off LD_LIBRARY_PATH."""
    del world.variables["LD_LIBRARY_PATH"]


FAULT = Fault(
    breaks="LD_LIBRARY_PATH leads to cuDNN 9.0, the wheel brings 9.1",
    cause="library-shadowing",
    acceptable=("cudnn-version-mismatch",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=mend,
    mended="the folder is taken off LD_LIBRARY_PATH",
)
