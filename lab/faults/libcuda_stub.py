"""The toolkit's stub of libcuda stands in front of everything."""

import subprocess
from pathlib import Path

from lab.environments import Missing
from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Put the stub, under the driver's name, on LD_LIBRARY_PATH, as advice against link errors has people do."""
    found = sorted(Path("/usr/local").glob("cuda*/targets/*/lib/stubs/libcuda.so"))
    folder = world.folder / "cuda" / "lib64" / "stubs"
    folder.mkdir(parents=True)
    if found:
        (folder / "libcuda.so.1").symlink_to(found[-1])
    else:
        _compile(world, folder / "libcuda.so.1")
    world.front(folder)


def _compile(world: World, stub: Path) -> None:
    """A stub like the toolkit's, where the toolkit came without: the driver's functions, each of which answers 34."""
    driver = world.cache.debian("libcuda1") / "usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1"
    try:
        listed = subprocess.run(["nm", "-D", "--defined-only", str(driver)], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Missing("needs a toolkit with stubs, or nm and g++ to make one") from error
    names = {line.split()[-1].split("@")[0] for line in listed.stdout.splitlines() if " T cu" in line}
    source = stub.with_suffix(".c")
    source.write_text("".join(f"int {name}(void) {{ return 34; }}\n" for name in sorted(names)))
    command = ("g++", "-x", "c", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", str(stub), str(source))
    if world.run(*command, seconds=60).code:
        raise Missing("needs a toolkit with stubs, or g++ to make one")


def mend(world: World) -> None:
    """Take the folder off LD_LIBRARY_PATH."""
    del world.variables["LD_LIBRARY_PATH"]


FAULT = Fault(
    breaks="LD_LIBRARY_PATH leads to the toolkit's stub of libcuda.so.1",
    cause="library-shadowing",
    environment="torch-cuda",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=mend,
    mended="the stub's folder is taken off LD_LIBRARY_PATH",
    afterwards="driver-not-loaded",
    needs=("no-driver",),
)
