"""CUDA is used before a DataLoader forks workers that use it too."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="CUDA is used before and after fork",
    cause="cuda-in-forked-process",
    environment="given",
    program=("python", "gpu_misuse.py", "fork"),
    inject=lambda world: None,
    mend=mend,
    mended="the workers stay on the CPU",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
