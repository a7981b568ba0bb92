"""Two ranks of one job use the same GPU."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Both ranks take GPU 0."""
    world.variables.update(BACKEND="nccl", FORCE_DEVICE="0")


FAULT = Fault(
    breaks="two NCCL ranks on GPU 0",
    cause="nccl-duplicate-gpu",
    environment="given",
    program=("python", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "ddp.py"),
    inject=inject,
    mended="a second GPU is nothing that the laboratory adds",
    settled=False,
    needs=("torch-gpu",),
)
