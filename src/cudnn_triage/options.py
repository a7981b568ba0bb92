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
        "--format", choices=formats, default="text", help="how to print the report (default: text)"
    )
    main_parser.add_argument(
        "--rules", action="append", default=[], metavar="DIR", help="add rules; same ids override the shipped ones"
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
    main_parser.add_argument("--verbose", action="store_true", help="show all evidence and all harmless messages")
    main_parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour in text output"
    )
    main_parser.add_argument("--width", type=int, metavar="N", help="columns of text output (default: the terminal's)")
    main_parser.add_argument("--no-redact", action="store_true", help="do not mask tokens, keys and passwords")
    main_parser.add_argument("--version", action="version", version=f"cudnn-triage {__version__}")
    return main_parser
