"""Rank 1 is sent to a port on which no master listens."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Rank 1 of 2, alone."""
    world.variables.update(
        RANK="1", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", BACKEND="gloo", PG_TIMEOUT="10"
    )


def mend(world: World) -> None:
    """A job of one rank that is its own master."""
    world.variables.update(RANK="0", WORLD_SIZE="1")


FAULT = Fault(
    breaks="rank 1 of 2 looks for a master that was never started",
    cause="rendezvous-failed",
    environment="torch-cpu",
    program=("python", "ddp.py"),
    inject=inject,
    mend=mend,
    mended="the job is started as one rank that is its own master",
    settled=False,
)
