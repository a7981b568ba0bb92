"""Gradients through a cuDNN LSTM in evaluation mode."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Do it right."""
    world.arguments = ("right",)


FAULT = Fault(
    breaks="backward through a cuDNN LSTM in evaluation mode",
    cause="cudnn-rnn-misuse",
    environment="given",
    program=("python", "gpu_misuse.py", "rnn"),
    inject=lambda world: None,
    mend=mend,
    mended="the LSTM stays in training mode",
    settled=False,
    in_program=True,
    needs=("torch-gpu",),
)
