"""The toolkit's stub of libcuda stands in front of everything."""

from pathlib import Path

from lab.environments import Missing
from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Link the stub under the driver's name and put its folder on LD_LIBRARY_PATH."""
    stubs = sorted(Path("/usr/local").glob("cuda*/lib64/stubs/libcuda.so"))
    if not stubs:
        raise Missing("needs the stub libcuda.so of a CUDA toolkit in /usr/local")
    world.front(world.folder_of("stubs", **{"libcuda.so.1": stubs[-1]}))


def mend(world: World) -> None:
    """Take the folder off LD_LIBRARY_PATH."""
    del world.variables["LD_LIBRARY_PATH"]


FAULT = Fault(
    breaks="LD_LIBRARY_PATH leads to the toolkit's stub of libcuda.so.1",
    cause="library-shadowing",
    environment="torch-cuda",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=mend,
    mended="the stub's folder is taken off LD_LIBRARY_PATH",
    afterwards="driver-not-loaded",
    needs=("no-driver",),
)
