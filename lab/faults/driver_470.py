"""The driver's library is of CUDA 11.4, PyTorch of CUDA 12.4."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Give the world the libcuda1 of Debian 11."""
    world.private_devices()
    world.front(world.cache.debian("libcuda1", "bullseye") / "usr/lib/x86_64-linux-gnu/nvidia/current")


def mend(world: World) -> None:
    """Upgrade it to the one of Debian 12 (535, CUDA 12.2)."""
    world.variables.clear()
    world.front(world.cache.debian("libcuda1") / "usr/lib/x86_64-linux-gnu/nvidia/current")


FAULT = Fault(
    breaks="the driver is release 470 (CUDA 11.4) under a PyTorch for CUDA 12.4; its kernel module is not loaded either",
    cause="driver-too-old",
    environment="torch-cuda",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=mend,
    mended="driver library 535 (CUDA 12.2) instead of 470",
    afterwards="other",  # there is still no kernel module
    needs=("no-driver", "root"),
)
