"""nvcc is given a host compiler newer than it knows."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """A g++ that says it is release 40, taken by every nvcc of this world."""
    compiler = world.folder / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text('#!/bin/sh\nexec /usr/bin/g++ -U__GNUC__ -D__GNUC__=40 "$@"\n')
    compiler.chmod(0o755)
    world.variables["NVCC_PREPEND_FLAGS"] = f"-ccbin {compiler}"


def mend(world: World) -> None:
    """Let nvcc take the machine's compiler."""
    del world.variables["NVCC_PREPEND_FLAGS"]


FAULT = Fault(
    breaks="nvcc's host compiler says that it is g++ 40",
    cause="host-compiler-unsupported",
    environment="torch-cpu",
    program=("nvcc", "-c", "blur.cu"),
    inject=inject,
    mend=mend,
    mended="nvcc takes the machine's own g++",
    needs=("nvcc", "g++"),
    stack="other",
)
