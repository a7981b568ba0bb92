"""/dev/shm holds 16 MiB."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """A small tmpfs on /dev/shm."""
    world.setup.append("mount -t tmpfs -o size=16m none /dev/shm")


def mend(world: World) -> None:
    """A larger one."""
    world.setup[:] = ["mount -t tmpfs -o size=1g none /dev/shm"]


FAULT = Fault(
    breaks="/dev/shm holds 16 MiB, a batch 24 MiB",
    cause="shared-memory-too-small",
    environment="torch-cpu",
    program=("python", "loader.py"),
    inject=inject,
    mend=mend,
    mended="/dev/shm holds 1 GiB",
    needs=("mounts",),
    ci=True,
)
