"""PTX of a later toolkit than the driver knows."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Mark the PTX as made by a toolkit to come."""
    world.variables["NEW"] = "1"


def mend(world: World) -> None:
    """PTX that every driver in use knows."""
    world.variables["NEW"] = "0"


FAULT = Fault(
    breaks="PTX of a version that this driver does not know",
    cause="ptx-too-new",
    environment="given",
    program=("python", "load_ptx.py"),
    inject=inject,
    mend=mend,
    mended="PTX 7.0",
    settled=False,
    needs=("torch-gpu",),
    stack="other",
)
