"""The user may not open /dev/nvidia*."""

from pathlib import Path

from lab.fault import Fault
from lab.world import World

_NODES = (("nvidiactl", 195, 255), ("nvidia0", 195, 0), ("nvidia-uvm", 510, 0))


def inject(world: World) -> None:
    """Private device nodes that belong to another user, seen by a process without the right to override that."""
    driver = world.cache.debian("libcuda1") / "usr/lib/x86_64-linux-gnu/nvidia/current"
    world.front(driver)
    release = (driver / "libcuda.so.1").resolve().name.rpartition("so.")[2]
    proc = world.folder / "proc" / "nvidia"
    proc.mkdir(parents=True)
    (proc / "version").write_text(
        f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {release}  Thu Jan  1 00:00:00 UTC 2026\n"
    )
    world.private_devices(
        *(f"mknod -m 600 {name} c {major} {minor} && chown 65534 {name}" for name, major, minor in _NODES)
    )
    world.setup.append(f"mount --bind {Path(proc).parent} /proc/driver")
    rights = "-dac_override,-dac_read_search,-mknod,-fowner,-chown"
    world.prefix = ["setpriv", "--bounding-set", rights, "--inh-caps", rights]


def mend(world: World) -> None:
    """Open the nodes to all."""
    world.setup.append("chmod 666 /dev/nvidia*")


FAULT = Fault(
    breaks="/dev/nvidia* belong to another user with mode 600 (the kernel module's traces in /proc are imitated)",
    cause="device-permission",
    by_log=("gpu-not-visible", "driver-not-loaded"),
    environment="torch-cuda",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=mend,
    mended="chmod 666 /dev/nvidia*",
    afterwards="other",  # there is still no driver behind the nodes
    needs=("no-driver", "root"),
)
