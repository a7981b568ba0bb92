"""The commands that look at a machine: probe, verify, and --probe of the main job."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .cli import OK, Parser, UsageError, emit, knowledge, output
from .probing import readings
from .probing.examination import Examination
from .probing.interpreters import Interpreter, NoInterpreter, choose


def run(command: str, args: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    return {"probe": _probe}[command](args)


def interpreter_options(parser: argparse.ArgumentParser) -> None:
    """The options that name the interpreter under examination."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--python", default="", metavar="PATH", help="examine this Python interpreter")
    which.add_argument("--venv", default="", metavar="DIR", help="examine the interpreter of this virtual environment")
    which.add_argument(
        "--conda-env", default="", metavar="NAME", help="examine the interpreter of this conda environment"
    )


def interpreter(options: argparse.Namespace) -> Interpreter:
    """The interpreter under examination. Raises UsageError."""
    try:
        return choose(options.python, options.venv, options.conda_env)
    except NoInterpreter as error:
        raise UsageError(str(error)) from None


def _probe(args: Sequence[str]) -> int:
    parser = Parser(prog="cudnn-triage probe", description="Look at this machine and say what is wrong with it.")
    parser.add_argument("ids", nargs="*", metavar="ID", help="probes to run (default: all)")
    parser.add_argument("--rules", action="append", default=[], metavar="DIR", help="add rules")
    parser.add_argument("--raw", action="store_true", help="print what the probes say, line by line")
    interpreter_options(parser)
    options = parser.parse_args(args)
    known = knowledge(options.rules)
    for name in options.ids:
        if name not in known.probes:
            raise UsageError(f"no probe {name!r}; known: {', '.join(known.probes)}")
    chosen = interpreter(options)
    outcomes = Examination(known, chosen).run(options.ids or list(known.probes))
    emit(readings.dump(outcomes, chosen.path))
    for why in readings.unusable(outcomes, known):
        print(why, file=output())
    for fact in readings.facts(outcomes, known):
        print(f"{fact.name} = {fact.text}", file=output())
    return OK
