"""A gradient penalty through a cuDNN GRU."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="double backward through a cuDNN GRU",
    cause="cudnn-rnn-misuse",
    environment="given",
    program=("python", "gpu_misuse.py", "double_backward"),
    inject=lambda world: None,
    mend=mend,
    mended="cuDNN is off for the penalty",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
