"""Upsampling to more elements than 32-bit indices reach."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a result of more than 2^31 elements",
    cause="tensor-too-large-for-index",
    environment="given",
    program=("python", "gpu_misuse.py", "index"),
    inject=lambda world: None,
    mend=mend,
    mended="a smaller result",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
