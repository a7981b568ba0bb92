"""The driver's user-space library is there, its kernel module is not."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Give the world Debian's libcuda1 without anything in the kernel."""
    world.private_devices()
    world.front(world.cache.debian("libcuda1") / "usr/lib/x86_64-linux-gnu/nvidia/current")


FAULT = Fault(
    breaks="the driver's libcuda.so.1 is installed, the kernel module is not loaded",
    cause="driver-not-loaded",
    by_log=("gpu-not-visible",),
    environment="torch-cuda",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mended="a kernel module is nothing that the laboratory loads",
    needs=("no-driver", "root"),
)
