"""The command line: the only place that touches argv, standard streams, the environment and exit codes."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, AnyStr, NoReturn

from . import __version__

if TYPE_CHECKING:
    from .knowledge.base import Knowledge
    from .reading import Log
    from .report import Report

OK, FAILED, USAGE, DIAGNOSED, UNEXPLAINED = 0, 1, 2, 10, 11
COMMANDS = ("explain", "solve", "rules", "eval", "fit", "completion", "probe", "verify")
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
            if args[0] in ("probe", "verify"):
                from . import examining

                return examining.run(args[0], args[1:])
            from . import commands

            return commands.run(args[0], args[1:])
        return triage_command(args)
    except UsageError as error:
        complain(str(error))
        return USAGE
    except BrokenPipeError:
        _close_output()  # the reader went away: nothing left to say
        return OK
    except KeyboardInterrupt:
        return 130


class Parser(argparse.ArgumentParser):
    """An argument parser whose error messages are plain text, whatever the arguments are."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and exit."""
        from .render.plain import visible

        super().error(visible(message))


def parser() -> argparse.ArgumentParser:
    """The options of the main job."""
    main_parser = Parser(
        prog="cudnn-triage",
        description="Read a log, name the root cause of a GPU error, print the fix.",
        epilog=f"Other commands: {', '.join(COMMANDS)} (cudnn-triage COMMAND --help). "
        "Write -- before a log that is named like a command or an option.",
    )
    main_parser.add_argument(
        "files", nargs="*", metavar="FILE", help="logs to read, '-' is standard input (the default)"
    )
    main_parser.add_argument(
        "--exit-code", action="store_true", help="exit 10 when a cause was found, 11 when an error is unexplained"
    )
    main_parser.add_argument("--version", action="version", version=f"cudnn-triage {__version__}")
    display_options(main_parser)
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


def display_options(to: argparse.ArgumentParser, formats: Sequence[str] = FORMATS) -> None:
    """Add the options that say with which rules and how a report is made and shown."""
    to.add_argument("--format", choices=formats, default="text", help="how to print the report (default: text)")
    to.add_argument(
        "--rules", action="append", default=[], metavar="DIR", help="add rules; same ids override the shipped ones"
    )
    to.add_argument("--verbose", action="store_true", help="show everything: evidence, harmless messages, readings")
    to.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="colour in text output")
    to.add_argument("--width", type=_columns, metavar="N", help="columns of text output (default: the terminal's)")
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


def _columns(text: str) -> int:
    """The number behind --width."""
    width = int(text) if text.isdecimal() and len(text) < 6 else -1
    if not 40 <= width <= 1000:
        raise UsageError(f"--width {text}: expected 40 to 1000 columns")
    return width


def triage_command(args: Sequence[str]) -> int:
    """The main job: read logs, print reports."""
    options = parser().parse_args(args)
    if not options.probe and not options.facts:
        for name in ("python", "venv", "conda_env", "save_facts", "assume_local"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} says how to look at a machine; add --probe")
    output()  # without one there is no need to begin
    from .reading import ReadError, read_path

    logs = []
    try:
        for name in options.files or ["-"]:
            logs += standard_input() if name == "-" else read_path(name)
    except ReadError as error:
        raise unreadable(error) from error
    from .engine import Triager
    from .redact import redacted

    triager = Triager(knowledge(options.rules))
    if options.probe or options.facts:
        from .examining import reports as settled

        reports = settled(triager, logs, options)
    else:
        reports = [triager.triage(log) for log in logs]
    if not options.no_redact:
        reports = [redacted(report) for report in reports]
    show(reports, options)
    if options.exit_code:
        verdicts = {report.verdict for report in reports}
        return DIAGNOSED if "diagnosed" in verdicts else UNEXPLAINED if "unexplained" in verdicts else OK
    return OK


def show(reports: Sequence[Report], options: argparse.Namespace) -> None:
    """Print reports to standard output."""
    try:
        for number, report in enumerate(reports):
            write(report, options.format, options, first=number == 0, heading=len(reports) > 1)
    except BrokenPipeError:
        _close_output()  # whoever reads has seen enough; the exit code is for whoever waits


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


def standard_input() -> list[Log]:
    """The logs on standard input; at a terminal, says first what to do. Raises ReadError."""
    from .reading import read

    if sys.stdin is None:
        raise UsageError("no standard input; name a file")
    if sys.stdin.isatty():
        complain(HINT.format(end="Ctrl-Z" if os.name == "nt" else "Ctrl-D"), "")
    return read(sys.stdin.buffer.read(), "<stdin>")


def unreadable(error: Exception) -> UsageError:
    """A ReadError as wrong usage. Names of archive members are any text: the message is made one safe line."""
    from .render.plain import visible

    return UsageError(visible(str(error)))


def complain(text: str, who: str = "cudnn-triage: ") -> None:
    """Say something on standard error, if there is one."""
    from .render.plain import visible_lines

    if sys.stderr is not None:
        print(f"{who}{visible_lines(text)}", file=sys.stderr)


def write(report: Report, form: str, options: argparse.Namespace, *, first: bool, heading: bool) -> None:
    """Print one report to standard output."""
    gap = "" if first else "\n"
    if form == "json":
        emit(report.to_json() + "\n", "backslashreplace")  # a lone surrogate becomes the JSON escape for it
    elif form == "markdown":
        from .render import markdown

        emit((gap + markdown.heading(report.input.name) if heading else "") + report.to_markdown())
    elif form == "github":
        from .render.github import annotation

        emit(annotation(report))
        _step_summary(report)
    else:
        from .render.terminal import Sheet, console, print_name, print_report

        color = {"auto": False if os.environ.get("NO_COLOR") else None, "always": True, "never": False}[options.color]
        out = output()
        sheet = Sheet(out)
        terminal = console(sheet, options.width, color)
        if heading:
            sheet.write(gap)
            print_name(report.input.name, terminal)
        print_report(report, terminal, verbose=options.verbose)
        _put(out, sheet.getvalue())


def _step_summary(report: Report) -> None:
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        try:
            with open(summary, "a", encoding="utf-8") as file:
                file.write(report.to_markdown() + "\n")
        except OSError as error:
            raise UsageError(f"GITHUB_STEP_SUMMARY={summary}: cannot be written: {error.strerror}") from error


def emit(text: str, errors: str = "replace") -> None:
    """Write text for machines and web pages: UTF-8 whatever the locale is."""
    out = output()
    binary = getattr(out, "buffer", None)
    if binary is None:
        _put(out, text)
    else:
        out.flush()
        _put(binary, text.encode("utf-8", errors))


def _put(stream: IO[AnyStr], data: AnyStr) -> None:
    try:
        stream.write(data)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _close_output()
        raise UsageError(f"standard output cannot be written: {error.strerror}") from error


def _close_output() -> None:
    """Let what is still unwritten go nowhere, so that the interpreter does not stumble over it when it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output() -> IO[str]:
    """Standard output, made to survive characters that its encoding lacks."""
    if sys.stdout is None:
        raise UsageError("no standard output; send it to a file or a pipe")
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return sys.stdout
