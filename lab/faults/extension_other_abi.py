"""A compiled extension was built with the other C++ ABI than PyTorch."""

from lab.environments import Missing
from lab.fault import Fault
from lab.world import World


def build(world: World, abi: int) -> None:
    """Compile voxels.cpp against the clone's torch with the C++ ABI ``abi``."""
    torch = world.site / "torch"
    flags = ("-std=c++20", "-O1", "-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", f"-I{torch / 'include'}")
    done = world.run("g++", *flags, "-o", "voxels.so", "voxels.cpp", f"-L{torch / 'lib'}", "-lc10", seconds=120)
    if done.code:
        raise Missing("could not compile voxels.cpp")


FAULT = Fault(
    breaks="an extension compiled with _GLIBCXX_USE_CXX11_ABI=0 under a torch compiled with 1",
    cause="abi-mismatch",
    environment="torch-cpu",
    program=("python", "voxels.py"),
    inject=lambda world: build(world, 0),
    mend=lambda world: build(world, 1),
    mended="the extension is compiled as torch was",
    settled=False,
    needs=("g++",),
)
