"""A container's memory limit: the kernel kills a DataLoader worker."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """1.5 GB for all, and workers that keep every sample."""
    world.limit_memory(1_500_000_000)
    world.variables["CACHE"] = "1"


def mend(world: World) -> None:
    """Workers that keep nothing."""
    del world.variables["CACHE"]


FAULT = Fault(
    breaks="a memory control group of 1.5 GB; the workers want more and one is killed",
    cause="host-out-of-memory",
    environment="torch-cpu",
    program=("python", "loader.py"),
    inject=inject,
    mend=mend,
    mended="the workers no longer keep every sample",
    in_program=True,
    needs=("root",),
)
