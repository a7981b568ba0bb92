"""The command line: the only place that touches argv, standard streams, the environment and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from . import __version__

if TYPE_CHECKING:
    from .knowledge.base import Knowledge
    from .report import Report

OK, FAILED, USAGE, DIAGNOSED, UNEXPLAINED = 0, 1, 2, 10, 11
COMMANDS = ("explain", "rules", "eval", "fit", "completion")
FORMATS = ("text", "json", "markdown", "github")

HINT = """cudnn-triage reads a log and names the root cause of a GPU error. Give it one:

    cudnn-triage error.log
    cudnn-triage < error.log
    python train.py 2>&1 | cudnn-triage

or paste the log here and end with {end} on a line of its own."""


class UsageError(Exception):
    """Wrong usage or unreadable input; the message says what, where and what to do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns 0 when the log was read and reported, 1 when the tool failed, 2 on wrong usage or unreadable input; with
    --exit-code also 10 (diagnosed) and 11 (unexplained).
    """
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        if args and args[0] in COMMANDS:
            from . import commands

            return commands.run(args[0], args[1:])
        return triage_command(args)
    except UsageError as error:
        print(f"cudnn-triage: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away: nothing left to say
        return OK
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """The options of the main job."""
    main_parser = argparse.ArgumentParser(
        prog="cudnn-triage",
        description="Read a log, name the root cause of a GPU error, print the fix.",
        epilog="Other commands: explain, rules, eval, fit, completion (cudnn-triage COMMAND --help).",
    )
    main_parser.add_argument(
        "files", nargs="*", metavar="FILE", help="logs to read, '-' is standard input (the default)"
    )
    main_parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how to print the report (default: text)"
    )
    main_parser.add_argument(
        "--rules", action="append", default=[], metavar="DIR", help="add rules; same ids override the shipped ones"
    )
    main_parser.add_argument(
        "--exit-code", action="store_true", help="exit 10 when a cause was found, 11 when an error is unexplained"
    )
    main_parser.add_argument("--verbose", action="store_true", help="show all evidence and all harmless messages")
    main_parser.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colour in text output"
    )
    main_parser.add_argument("--width", type=int, metavar="N", help="columns of text output (default: the terminal's)")
    main_parser.add_argument("--no-redact", action="store_true", help="do not mask tokens, keys and passwords")
    main_parser.add_argument("--version", action="version", version=f"cudnn-triage {__version__}")
    return main_parser


def triage_command(args: Sequence[str]) -> int:
    """The main job: read logs, print reports."""
    options = parser().parse_args(args)
    if options.width is not None and not 20 <= options.width <= 1000:
        raise UsageError(f"--width {options.width}: expected 20 to 1000 columns")
    from .reading import ReadError, read, read_path

    logs = []
    try:
        for name in options.files or ["-"]:
            logs += read(_standard_input(), "<stdin>") if name == "-" else read_path(name)
    except ReadError as error:
        raise UsageError(str(error)) from error
    from .engine import Triager
    from .redact import redacted

    triager = Triager(knowledge(options.rules))
    reports = [triager.triage(log) for log in logs]
    if not options.no_redact:
        reports = [redacted(report) for report in reports]
    for number, report in enumerate(reports):
        write(report, options.format, options, first=number == 0, heading=len(reports) > 1)
    if options.exit_code:
        verdicts = {report.verdict for report in reports}
        return DIAGNOSED if "diagnosed" in verdicts else UNEXPLAINED if "unexplained" in verdicts else OK
    return OK


def knowledge(folders: Sequence[str]) -> Knowledge:
    """The shipped knowledge base with these folders of rules added. Raises UsageError that lists what is wrong in them."""
    from .knowledge.base import KnowledgeError, load

    paths = tuple(Path(folder).resolve() for folder in folders)
    for path in paths:
        if not path.is_dir():
            raise UsageError(f"--rules {path}: no such folder")
    try:
        return load(paths)
    except KnowledgeError as error:
        raise UsageError(f"the rules cannot be used:\n{error}") from error


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise UsageError("no standard input; name a file")
    if sys.stdin.isatty():
        print(HINT.format(end="Ctrl-Z" if os.name == "nt" else "Ctrl-D"), file=sys.stderr)
    return sys.stdin.buffer.read()


def write(report: Report, form: str, options: argparse.Namespace, *, first: bool, heading: bool) -> None:
    """Print one report to standard output."""
    out = output()
    if form == "json":
        print(report.to_json(), file=out)
    elif form == "markdown":
        if heading:
            print(f"{'' if first else chr(10)}### {report.input.name}\n", file=out)
        print(report.to_markdown(), end="", file=out)
    elif form == "github":
        from .render.github import annotation

        print(annotation(report), end="", file=out)
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if summary:
            with open(summary, "a", encoding="utf-8") as file:
                file.write(report.to_markdown() + "\n")
    else:
        from .render.terminal import console, print_report

        color = {"auto": False if os.environ.get("NO_COLOR") else None, "always": True, "never": False}[options.color]
        terminal = console(out, options.width, color)
        if heading:
            terminal.print(f"{'' if first else chr(10)}{report.input.name}", style="bold")
        print_report(report, terminal, verbose=options.verbose)
    out.flush()


def output() -> IO[str]:
    """Standard output, made to survive characters that its encoding lacks."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return sys.stdout
