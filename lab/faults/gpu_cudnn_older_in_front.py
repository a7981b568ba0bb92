"""LD_LIBRARY_PATH leads to an older cuDNN, on a machine where it is wanted."""

from pathlib import Path

from lab.fault import Fault
from lab.faults.cudnn_older_in_front import mend
from lab.world import World

_RELEASES = {"12": "nvidia-cudnn-cu12==9.1.0.70", "13": "nvidia-cudnn-cu13==9.12.0.46"}


def older(world: World) -> Path:
    """The folder of an older cuDNN 9 for the same CUDA major; its wheel has to be in the cache or within reach."""
    major = world.file("nvidia_cudnn_cu*.dist-info").name.removeprefix("nvidia_cudnn_cu")[:2]
    return world.cache.wheel(_RELEASES[major]) / "nvidia/cudnn/lib"


FAULT = Fault(
    breaks="LD_LIBRARY_PATH leads to an older cuDNN than the wheel's",
    cause="library-shadowing",
    acceptable=("cudnn-version-mismatch",),
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=lambda world: world.front(older(world)),
    mend=mend,
    mended="the folder is taken off LD_LIBRARY_PATH",
    needs=("torch-gpu",),
)
