"""CUDA_VISIBLE_DEVICES hides all GPUs."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """An empty list of devices, as a job script with an unset variable leaves it."""
    world.variables["CUDA_VISIBLE_DEVICES"] = ""


def mend(world: World) -> None:
    """The first GPU."""
    world.variables["CUDA_VISIBLE_DEVICES"] = "0"


FAULT = Fault(
    breaks="CUDA_VISIBLE_DEVICES is empty",
    cause="gpu-not-visible",
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=mend,
    mended="CUDA_VISIBLE_DEVICES=0",
    needs=("torch-gpu",),
)
