"""A checkpoint saved on a GPU is loaded without map_location."""

from lab.environments import Missing
from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Write a checkpoint whose tensors were on cuda:0."""
    if world.run("python", "checkpoint.py", "epoch41.pt", "cuda:0", seconds=120).code:
        raise Missing("could not write the checkpoint")


def mend(world: World) -> None:
    """Load it to the CPU."""
    world.variables["MAP_LOCATION"] = "cpu"


FAULT = Fault(
    breaks="a checkpoint of cuda:0 is loaded where no GPU is",
    cause="gpu-op-on-cpu",
    acceptable=("cpu-only-build",),
    environment="torch-cpu",
    program=("python", "train.py", "--resume", "epoch41.pt"),
    inject=inject,
    mend=mend,
    mended="map_location=cpu",
    in_program=True,
    settled=False,
    needs=("no-driver",),
    ci=True,
)
