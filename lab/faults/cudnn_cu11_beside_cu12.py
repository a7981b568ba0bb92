"""nvidia-cudnn-cu11 was installed on top of nvidia-cudnn-cu12: both write into nvidia/cudnn."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Install both, then remove the one that is not needed, as people do; the files are gone for the other one as well."""
    world.install("nvidia-cudnn-cu11==9.1.0.70")
    world.uninstall("nvidia-cudnn-cu11")


FAULT = Fault(
    breaks="nvidia-cudnn-cu11 was installed beside -cu12 and uninstalled again, which took the files that both own",
    cause="conflicting-packages",
    acceptable=("cudnn-not-found", "incomplete-install", "cudnn-sublibrary-mismatch"),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=inject,
    mend=lambda world: world.install("nvidia-cudnn-cu12==9.1.0.70"),
    mended="nvidia-cudnn-cu12==9.1.0.70 is installed again",
)
