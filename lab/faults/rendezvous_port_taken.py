"""Another program listens on the port of the rendezvous."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Take the port."""
    listen = (
        "import socket, time; s = socket.create_server(('127.0.0.1', 29517)); print('up', flush=True); time.sleep(3600)"
    )
    world.start("python", "-c", listen)
    world.variables.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", BACKEND="gloo")


def mend(world: World) -> None:
    """Take another port."""
    world.variables["MASTER_PORT"] = "29518"


FAULT = Fault(
    breaks="another program listens on MASTER_PORT",
    cause="rendezvous-failed",
    environment="torch-cpu",
    program=("python", "ddp.py"),
    inject=inject,
    mend=mend,
    mended="another MASTER_PORT",
    in_program=True,
    ci=True,
)
