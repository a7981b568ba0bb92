"""cuDNN's convolution is called with truth values."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="a cuDNN convolution of truth values (bool)",
    cause="unsupported-cudnn-input",
    acceptable=("cudnn-workspace-too-large",),
    environment="given",
    program=("python", "gpu_misuse.py", "layout"),
    inject=lambda world: None,
    mend=mend,
    mended="32-bit floats",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
