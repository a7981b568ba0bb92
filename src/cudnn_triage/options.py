"""The options of the command line, for argparse: imported only where a run has more than a format and files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NoReturn

from . import __version__


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages are plain text, whatever the arguments are."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit."""
        from .render.plain import visible

        super().error(visible(message))


class Once(argparse.Action):
    """Store the value of an option that may be given once: of two different ones nobody can tell which is meant. For a parser
    that parses once."""

    given: object = None  # on the command line, which may say what the default is

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Store ``values``; a second, other one is an error."""
        if self.given not in (None, values):
            raise argparse.ArgumentError(self, f"given twice, {self.given} and {values}; give one")
        self.given = values
        setattr(namespace, self.dest, values)


def parser(commands: Sequence[str], formats: Sequence[str]) -> argparse.ArgumentParser:
    """The options of the main job."""
    main_parser = Parser(
        prog="cudnn-triage",
        description="Read a log, name the root cause of a GPU error, print the fix.",
        epilog=f"Other commands: {', '.join(commands)} (cudnn-triage COMMAND --help). "
        "Write -- before a log that is named like a command or an option.",
    )
    main_parser.add_argument(
        "files", nargs="*", metavar="FILE", help="logs to read, '-' is standard input (the default)"
    )
    main_parser.add_argument(
        "--exit-code", action="store_true", help="exit 10 when a cause was found, 11 when an error is unexplained"
    )
    live = main_parser.add_mutually_exclusive_group()
    live.add_argument(
        "--tee", action="store_true", help="pass standard input through unchanged, then print the diagnosis"
    )
    live.add_argument(
        "--follow",
        action="store_true",
        help="diagnose standard input while it grows; print a diagnosis when it changes",
    )
    main_parser.add_argument("--version", action="version", version=f"cudnn-triage {__version__}")
    display_options(main_parser, formats)
    probing = main_parser.add_argument_group("looking at this machine")
    probing.add_argument(
        "--probe",
        action="store_true",
        help="confirm or rule out what the log suggests, on this machine (changes nothing)",
    )
    probing.add_argument(
        "--assume-local", action="store_true", help="let readings count though the log seems to be from another machine"
    )
    examine_options(probing)
    return main_parser


def display_options(to: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Add the options that say with which rules and how a report is made and shown."""
    to.add_argument("--format", choices=formats, default="text", help="how to print the report (default: text)")
    to.add_argument(
        "--rules", action="append", default=[], metavar="DIR", help="add rules; same ids override the shipped ones"
    )
    to.add_argument("--verbose", action="store_true", help="show everything: evidence, harmless messages, readings")
    to.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour in text output")
    to.add_argument("--width", type=columns, metavar="N", help="columns of text output (default: the terminal's)")
    to.add_argument("--no-redact", action="store_true", help="do not mask tokens, keys and passwords")


def examine_options(to: argparse._ActionsContainer) -> None:
    """Add the options that say what is examined, and where its readings come from or go to."""
    which = to.add_mutually_exclusive_group()
    which.add_argument("--python", default="", metavar="PATH", help="examine this Python (default: the active one)")
    which.add_argument("--venv", default="", metavar="DIR", help="examine this virtual environment")
    which.add_argument("--conda-env", default="", metavar="NAME", help="examine this conda environment")
    which.add_argument(
        "--facts", default="", metavar="FILE", help="take readings saved on another machine, run nothing"
    )
    to.add_argument("--save-facts", default="", metavar="FILE", help="save the readings for --facts elsewhere")


def columns(text: str) -> int:
    """The number behind --width."""
    width = int(text) if text.isdecimal() and len(text) < 6 else -1
    if not 40 <= width <= 1000:
        raise argparse.ArgumentTypeError(f"{text}: expected 40 to 1000 columns")
    return width
