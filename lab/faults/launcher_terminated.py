"""A job under torchrun is ended from outside."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """A job of many steps, and SIGTERM after 40 seconds."""
    world.variables.update(BACKEND="gloo", STEPS="1000", STEP_SECONDS="2")
    world.prefix = ["timeout", "-s", "TERM", "40"]


def mend(world: World) -> None:
    """A job that ends in time."""
    world.variables["STEPS"] = "2"


FAULT = Fault(
    breaks="the launcher is sent SIGTERM, as a scheduler does at its time limit",
    cause="job-ended-externally",
    environment="torch-cpu",
    program=("python", "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "ddp.py"),
    inject=inject,
    mend=mend,
    mended="the job is short enough",
    settled=False,
)
