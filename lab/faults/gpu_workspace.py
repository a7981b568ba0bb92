"""A convolution without room for its workspace."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a memory limit that leaves no room for any convolution algorithm's workspace",
    cause="cudnn-workspace-too-large",
    acceptable=("gpu-out-of-memory",),
    environment="given",
    program=("python", "gpu_misuse.py", "workspace"),
    inject=lambda world: None,
    mend=mend,
    mended="no limit",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
