"""The network is on the GPU and the batch is not."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="the batch stays on the CPU",
    cause="tensors-on-different-devices",
    environment="given",
    program=("python", "gpu_misuse.py", "devices"),
    inject=lambda world: None,
    mend=mend,
    mended="the batch is moved to the GPU",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
