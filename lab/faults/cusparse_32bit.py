"""libcusparse.so.12 is of the wrong ELF class."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Put the header of a 32-bit library in its place."""
    content = bytearray(world.file("nvidia/cusparse/lib/libcusparse.so.12").read_bytes()[: 1 << 16])
    content[4] = 1  # EI_CLASS: ELFCLASS32
    world.replace("nvidia/cusparse/lib/libcusparse.so.12", bytes(content))


FAULT = Fault(
    breaks="a 32-bit file stands in the place of libcusparse.so.12",
    cause="incomplete-install",
    acceptable=("library-shadowing",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cusparse-cu12==12.3.1.170"),
    mended="nvidia-cusparse-cu12==12.3.1.170 is installed again",
)
