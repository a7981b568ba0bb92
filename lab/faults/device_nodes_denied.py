"""The user may not open /dev/nvidia*."""

import os

from lab.fault import Fault
from lab.world import World

_NODES = (("nvidiactl", 195, 255), ("nvidia0", 195, 0), ("nvidia-uvm", 510, 0))


def inject(world: World) -> None:
    """Private device nodes that belong to another user, seen by a process without the right to override that."""
    world.front(world.cache.debian("libcuda1") / "usr/lib/x86_64-linux-gnu/nvidia/current")
    version = os.readlink(
        world.cache.debian("libcuda1") / "usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1"
    ).rpartition("so.")[2]
    nodes, proc = world.folder / "dev", world.folder / "proc"
    nodes.mkdir()
    (proc / "nvidia").mkdir(parents=True)
    (proc / "nvidia" / "version").write_text(
        f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Mon Jan  1 00:00:00 UTC 2026\n"
    )
    world.setup += [f"mount -t tmpfs none {nodes}", f"mkdir {nodes}/shm {nodes}/pts", f"ln -s /proc/self/fd {nodes}/fd"]
    world.setup += [
        f"touch {nodes}/{name} && mount --bind /dev/{name} {nodes}/{name}"
        for name in ("null", "zero", "full", "random", "urandom", "tty")
    ]
    world.setup += [
        f"mknod -m 600 {nodes}/{name} c {major} {minor} && chown 65534 {nodes}/{name}" for name, major, minor in _NODES
    ]
    world.setup += [f"mount --rbind {nodes} /dev", f"mount --bind {proc} /proc/driver"]
    world.prefix = [
        "setpriv",
        "--bounding-set",
        "-dac_override,-dac_read_search",
        "--inh-caps",
        "-dac_override,-dac_read_search",
    ]


def mend(world: World) -> None:
    """Open the nodes to all."""
    world.setup.append("chmod 666 /dev/nvidia*")


FAULT = Fault(
    breaks="/dev/nvidia* belong to another user with mode 600 (the kernel module's traces in /proc are imitated)",
    cause="device-permission",
    acceptable=("driver-not-loaded", "gpu-not-visible"),  # what the message itself allows
    environment="torch-cuda",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=mend,
    mended="chmod 666 /dev/nvidia*",
    afterwards="driver-not-loaded",
    needs=("no-driver", "root"),
)
