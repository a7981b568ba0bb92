"""A checkpoint of the fourth GPU of another machine."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a checkpoint of cuda:3 on a machine with fewer GPUs",
    cause="invalid-device-ordinal",
    acceptable=("gpu-op-on-cpu",),
    environment="given",
    program=("python", "gpu_misuse.py", "checkpoint"),
    inject=lambda world: None,
    mend=mend,
    mended="map_location=cuda:0",
    in_program=True,
    needs=("torch-gpu",),
)
