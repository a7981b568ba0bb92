"""LD_LIBRARY_PATH leads to the libstdc++ of an older system."""

from lab.environments import Missing
from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Compile a helper with today's compiler and run it with the libstdc++ of Debian 11."""
    if world.run("g++", "-std=c++17", "-shared", "-fPIC", "-o", "histogram.so", "histogram.cpp", seconds=60).code:
        raise Missing("needs a g++ that compiles C++17 with floating-point from_chars (11 or newer)")
    world.front(world.cache.debian("libstdc++6", "bullseye") / "usr/lib/x86_64-linux-gnu")


def mend(world: World) -> None:
    """Take the machine's own."""
    del world.variables["LD_LIBRARY_PATH"]


FAULT = Fault(
    breaks="libstdc++ 10 is loaded, a compiled helper needs that of g++ 12",
    cause="host-libraries-too-old",
    acceptable=("library-shadowing",),
    environment="torch-cpu",
    program=("python", "histogram.py"),
    inject=inject,
    mend=mend,
    mended="the older libstdc++ is taken off LD_LIBRARY_PATH",
    needs=("g++",),
)
