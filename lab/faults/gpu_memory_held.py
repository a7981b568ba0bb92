"""Another process holds nearly all memory of the GPU."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """End the other process."""
    world.end_others()


FAULT = Fault(
    breaks="another process holds 95 % of the GPU's free memory",
    cause="gpu-memory-held-by-others",
    environment="given",
    program=("python", "finetune.py"),
    inject=lambda world: world.start("python", "hold_memory.py"),
    mend=mend,
    mended="the other process is ended",
    needs=("torch-gpu",),
)
