"""The command line: the only place that touches argv, standard streams, the environment and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import IO, Any, AnyStr, BinaryIO, NoReturn

    from .engine import Triager
    from .knowledge.base import Knowledge
    from .reading import Log
    from .report import Report
    from .streams import Source

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


def program() -> NoReturn:
    """What the installed command runs: ``main``, and an end without taking everything down, which would cost a fifth of the time."""
    gc.disable()  # what a run makes is needed until it ends
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):  # what could not be written has been told
            continue
    os._exit(code)


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


def parser() -> argparse.ArgumentParser:
    """The options of the main job."""
    from .options import parser

    return parser(COMMANDS, FORMATS)


class PlainOptions:
    """The options of a run that only names files and a format; all others are as if not given."""

    def __init__(self, files: Sequence[str], form: str) -> None:
        self.files = files
        self.format = form
        self.rules: Sequence[str] = ()
        self.color = "auto"
        self.verbose = False

    def __getattr__(self, name: str) -> None:
        return None


def plain_options(args: Sequence[str]) -> Any:
    """Such options, understood without ``argparse``, which takes longer than reading a log; None where there are others."""
    form, files = "text", list(args)
    if files[:1] == ["--format"] and files[1:2] and files[1] in FORMATS:
        form, files = files[1], files[2:]
    return None if any(name.startswith("-") for name in files) else PlainOptions(files, form)


def triage_command(args: Sequence[str]) -> int:
    """The main job: read logs, print reports."""
    options = plain_options(args) or parser().parse_args(args)
    if (options.follow or options.tee) and list(options.files or ["-"]) != ["-"]:
        raise UsageError("--follow and --tee read standard input: tail -f FILE | cudnn-triage --follow")
    if options.follow and (options.probe or options.facts):
        raise UsageError("--follow looks at no machine; use --tee, or give the finished log")
    if not options.probe and not options.facts:
        for name in ("python", "venv", "conda_env", "save_facts", "assume_local"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} says how to look at a machine; add --probe")
    output()  # without one there is no need to begin
    from .engine import Triager
    from .redact import redacted

    triager = Triager(knowledge(options.rules))

    def shown(report: Report) -> Report:
        return report if options.no_redact else redacted(report)

    late: list[UsageError] = []  # told when the reports are
    if options.follow:
        reports = [_follow(options, triager, lambda report: write(shown(report), options.format, options))]
    else:
        if options.probe or options.facts:
            from . import examining

            machine = examining.Subject(triager, options)  # what is wrong with its options is told before a log is read
            logs = _logs(options, triager.knowledge, late)
            reports = examining.reports(triager, logs, machine, options.assume_local, late)
        else:
            reports = [triager.triage(log) for log in _logs(options, triager.knowledge, late)]
        reports = [shown(report) for report in reports]
        show(reports, options, below=options.tee)
    if late:
        raise late[0] if len(late) == 1 else UsageError("; ".join(map(str, late)))
    if options.exit_code:
        verdicts = {report.verdict for report in reports}
        return DIAGNOSED if "diagnosed" in verdicts else UNEXPLAINED if "unexplained" in verdicts else OK
    return OK


def show(reports: Sequence[Report], options: argparse.Namespace, *, below: bool = False) -> None:
    """Print reports to standard output; ``below`` something else that stands there."""
    try:
        for number, report in enumerate(reports):
            write(report, options.format, options, first=number == 0 and not below, heading=len(reports) > 1)
    except BrokenPipeError:
        _close_output()  # whoever reads has seen enough; the exit code is for whoever waits


def _logs(options: argparse.Namespace, known: Knowledge, unread: list[UsageError]) -> list[Log]:
    """The logs that are named. What cannot be read is put into ``unread`` where there are others; raises it where there are none."""
    from .progress import Progress
    from .reading import ReadError
    from .streams import read_file, read_stream

    logs: list[Log] = []
    for name in options.files or ["-"]:
        progress = Progress(sys.stderr)
        try:
            if name == "-":
                logs += read_stream(_source(tee=options.tee), "<stdin>", known, progress)
            else:
                logs += read_file(name, known, progress)
        except ReadError as error:
            there = name == "-" or os.path.exists(name)
            unread.append(UsageError(f"{unreadable(error)}{'' if there else meant(name)}"))
        finally:
            progress.done()
    if not logs and unread:
        raise unread[0]
    return logs


def meant(name: str) -> str:
    """What somebody may have meant who named a log that is not there: a command, or the message itself."""
    file = ": " not in name and os.path.splitext(name)[1][1:].isalpha()
    if " " in name.strip() and not file:
        return "; that looks like a message: echo 'MESSAGE' | cudnn-triage, or cudnn-triage explain 'MESSAGE'"
    if os.path.basename(name) != name or "." in name:
        return ""
    from .near import near

    close = near(name, COMMANDS, 1)
    return f"; did you mean the command {close[0]}?" if close else f"; commands are {', '.join(COMMANDS)} (--help)"


def _follow(options: argparse.Namespace, triager: Triager, tell: Callable[[Report], None]) -> Report:
    from .live import follow, outlive_interrupt
    from .reading import ReadError

    outlive_interrupt()
    try:
        return follow(_input(), "<stdin>", triager, tell)
    except ReadError as error:
        raise unreadable(error) from error


def _source(*, tee: bool) -> Source:
    source = _input()
    if not tee:
        return source
    from .live import Tee, outlive_interrupt

    outlive_interrupt()
    return Tee(source, output().buffer)  # type: ignore[attr-defined]


def _input() -> BinaryIO:
    """Standard input; at a terminal, says first what to do."""
    if sys.stdin is None:
        raise UsageError("no standard input; name a file")
    if sys.stdin.isatty():
        complain(HINT.format(end="Ctrl-Z" if os.name == "nt" else "Ctrl-D"), "")
    return sys.stdin.buffer


def knowledge(folders: Sequence[str]) -> Knowledge:
    """The shipped knowledge base with these folders of rules added. Raises UsageError that lists what is wrong in them."""
    from .knowledge.base import KnowledgeError, load

    paths = tuple(os.path.realpath(folder) for folder in folders)
    for path in paths:
        if not os.path.isdir(path):
            raise UsageError(f"--rules {path}: no such folder")
    try:
        return load(paths)
    except KnowledgeError as error:
        raise UsageError(f"the rules cannot be used:\n{error}") from error


def standard_input() -> list[Log]:
    """The logs on standard input, whole. Raises ReadError."""
    from .reading import cannot_read, read

    try:
        data = _input().read()
    except OSError as error:
        raise cannot_read("<stdin>", error) from error
    return read(data, "<stdin>")


def unreadable(error: Exception) -> UsageError:
    """A ReadError as wrong usage. Names of archive members are any text: the message is made one safe line."""
    from .render.plain import visible

    return UsageError(visible(str(error)))


def complain(text: str, who: str = "cudnn-triage: ") -> None:
    """Say something on standard error, if there is one."""
    from .render.plain import visible_lines

    if sys.stderr is not None:
        print(f"{who}{visible_lines(text)}", file=sys.stderr)


def write(report: Report, form: str, options: argparse.Namespace, *, first: bool = True, heading: bool = False) -> None:
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
        sheet.write(gap)
        if heading:
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
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return


def output() -> IO[str]:
    """Standard output, made to survive characters that its encoding lacks."""
    if sys.stdout is None:
        raise UsageError("no standard output; send it to a file or a pipe")
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return sys.stdout
