"""A token id beyond the vocabulary."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="an index of an embedding is out of range",
    cause="device-side-assert",
    environment="given",
    program=("python", "gpu_misuse.py", "embedding"),
    inject=lambda world: None,
    mend=mend,
    mended="the index is in range",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
