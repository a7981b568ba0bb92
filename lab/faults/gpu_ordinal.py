"""A configuration names a GPU that is not there."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="the program asks for a GPU index that this machine does not have",
    cause="invalid-device-ordinal",
    environment="given",
    program=("python", "gpu_misuse.py", "ordinal"),
    inject=lambda world: None,
    mend=mend,
    mended="index 0",
    in_program=True,
    needs=("torch-gpu",),
)
