"""A label beyond the number of classes, and the cuDNN error that follows it."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a label is out of range; the next step's cuDNN or cuBLAS call fails as its echo",
    cause="device-side-assert",
    environment="given",
    program=("python", "gpu_misuse.py", "labels"),
    inject=lambda world: None,
    mend=mend,
    mended="the label is in range",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
