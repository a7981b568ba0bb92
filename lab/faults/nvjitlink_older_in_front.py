"""LD_LIBRARY_PATH leads to the nvJitLink of an older toolkit."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Put nvJitLink 12.1 in front of the wheel's 12.4."""
    world.front(world.cache.wheel("nvidia-nvjitlink-cu12==12.1.105") / "nvidia/nvjitlink/lib")


def mend(world: World) -> None:
    """Take the folder off LD_LIBRARY_PATH."""
    del world.variables["LD_LIBRARY_PATH"]


FAULT = Fault(
    breaks="LD_LIBRARY_PATH leads to nvJitLink 12.1, the wheels bring 12.4",
    cause="library-shadowing",
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=mend,
    mended="the folder is taken off LD_LIBRARY_PATH",
)
