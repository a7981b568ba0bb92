"""CUDA was touched before the workers were forked."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Start the workers afresh."""
    world.variables["START_METHOD"] = "spawn"


FAULT = Fault(
    breaks="the program initialises CUDA and then forks its workers",
    cause="cuda-in-forked-process",
    environment="torch-cuda",
    program=("python", "features.py"),
    inject=lambda world: None,
    mend=mend,
    mended="the workers are spawned",
    afterwards="driver-not-loaded",
    settled=False,
    needs=("no-driver",),
)
