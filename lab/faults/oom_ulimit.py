"""ulimit -v: an allocation of host memory is refused."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """12 GB of address space."""
    world.prefix = ["prlimit", "--as=12000000000"]


def mend(world: World) -> None:
    """No limit."""
    world.prefix = []


FAULT = Fault(
    breaks="ulimit -v of 12 GB, the program wants a table of 16 GiB",
    cause="host-out-of-memory",
    environment="torch-cpu",
    program=("python", "allocate.py", "16"),
    inject=inject,
    mend=mend,
    mended="the limit is taken away",
    ci=True,
)
