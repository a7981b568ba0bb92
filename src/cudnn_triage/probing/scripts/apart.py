"""Work done in a child process, so that its crash is a reading and the rest goes on."""

import os
import signal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .prelude import attempt, fact, first_line, message, record, stage

_steps = -1  # where a child notes its stage for its parent


def step(name: str) -> None:
    """The next stage, also told to the parent."""
    if _steps >= 0:
        os.write(_steps, (name + "\n").encode())
    stage(name)


def apart(probe: str, name: str, work: "Callable[..., None]", *arguments: "Any") -> bool:
    """Do ``work`` in a child where the system can fork; whether it came to its end without crash or exception."""
    global _steps
    if not hasattr(os, "fork"):
        try:
            work(*arguments)
        except Exception as error:
            message(first_line(error), name)
            return False
        return True
    source, target = os.pipe()
    child = os.fork()
    if not child:
        _steps = target
        try:
            work(*arguments)
        except BaseException as error:
            message(first_line(error), name)
            os._exit(1)
        os._exit(0)
    os.close(target)
    _, status = os.waitpid(child, 0)
    steps = os.read(source, 1 << 16).decode().split("\n")
    os.close(source)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        word = attempt(lambda: signal.Signals(number).name) or str(number)
        last = (steps[:-1] or [name])[-1]
        fact(f"probe.{probe}.crashed", word)
        fact(f"probe.{probe}.stage", last)
        record("crash", of=name, signal=word, stage=last)
    return status == 0
