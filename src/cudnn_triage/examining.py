"""The command line's work on a machine: --probe and --facts of the main job, and the commands probe and verify."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .cleaning import clean
from .cli import (
    DIAGNOSED,
    FORMATS,
    OK,
    UNEXPLAINED,
    UsageError,
    complain,
    emit,
    knowledge,
    output,
    show,
    standard_input,
    unreadable,
)  # fmt: skip
from .engine import Triager
from .facts import Fact, covers
from .knowledge.base import Knowledge
from .near import nearest
from .options import Parser, display_options, examine_options
from .probing import readings
from .probing.bundle import script
from .probing.checks import verify
from .probing.examination import Examination
from .probing.interpreters import Interpreter, NoInterpreter, choose
from .probing.plan import Planner
from .probing.readings import Outcome, ReadingsError
from .redact import masked, redacted
from .render.inventory import inventory
from .render.plain import visible_lines
from .render.progress import Progress
from .report import Look, ProbeItem, Report
from .settling import CREDIBLE

if TYPE_CHECKING:
    from .reading import Log

SAVED = "the machine of "


def run(command: str, args: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    return {"probe": _probe, "verify": _verify}[command](args)


class Subject:
    """The machine that is looked at: this one, by probes as they are asked for, or the one whose readings were saved.

    Raises UsageError, before anything is run, where options name no interpreter, no readings or no place to save them.
    """

    def __init__(self, triager: Triager, options: argparse.Namespace) -> None:
        self._place = options.save_facts
        _check_place(self._place)
        self._triager = triager
        self._known = triager.knowledge
        self._why: dict[str, str] = {}
        self._captured: dict[str, list[Fact]] = {}
        self._examination: Examination | None = None
        self._outcomes: list[Outcome] = []
        self.name = "this machine"
        if options.facts:
            self._outcomes, self.interpreter = _load(options.facts)
            self.name = SAVED + re.sub(r"[^\w.-]", "_", Path(options.facts).name)
        else:
            interpreter = _interpreter(options)
            self.interpreter = f"{interpreter.path} ({interpreter.why})"
            self._examination = Examination(self._known, interpreter)

    @property
    def outcomes(self) -> list[Outcome]:
        """What was run so far, in order."""
        return self._examination.outcomes if self._examination else self._outcomes

    @property
    def ran(self) -> frozenset[str]:
        """The probes that need not, or cannot, be run any more."""
        return frozenset(run.probe for run in self.outcomes) if self._examination else frozenset(self._known.probes)

    @property
    def look(self) -> Look:
        """What was run, for the report."""
        items = [
            ProbeItem(run.probe, run.status, run.reason, run.seconds, self._why.get(run.probe, ""))
            for run in self.outcomes
        ]
        return Look(tuple(items), self.name, self.interpreter)

    def run(self, wanted: dict[str, str]) -> None:
        """Run probes; ``wanted`` says of each what it is to tell. Shows progress on standard error."""
        if self._examination is None:
            return
        self._why.update(wanted)
        with Progress(sys.stderr, lambda probe: str(self._known.probes[probe]["title"])) as progress:
            if not self._examination.outcomes:
                progress.say(f"looking at {self.name}, with {self.interpreter}")
            self._examination.run(
                list(wanted),
                lambda probe: progress.started(probe, wanted[probe]),
                lambda run: progress.ended(run.probe, run.status, run.reason, run.seconds),
            )

    def facts(self) -> list[Fact]:
        """The readings so far, with what the messages say that loaders and frameworks printed meanwhile."""
        found = readings.facts(self.outcomes, self._known)
        for run in self.outcomes:
            if run.probe not in self._captured:
                self._captured[run.probe] = self._from_messages(run)
            found += self._captured[run.probe]
        return list(dict.fromkeys(found))

    def _from_messages(self, run: Outcome) -> list[Fact]:
        may = self._known.probes.get(run.probe, {"reads": []})["reads"]
        captured = (fact for message in run.messages for fact in self._triager.captures(message))
        return [Fact(fact.name, fact.value, "local") for fact in captured if covers(may, fact.name)]

    def save(self, late: list[UsageError]) -> None:
        """Write the readings, with secrets masked, where ``--save-facts`` says. That it could not be done is put into ``late``:
        it costs no answer."""
        if not self._place:
            return
        text = readings.dump(self.outcomes, self.interpreter, masked)
        if self._place == "-":
            emit(text)
            return
        try:
            Path(self._place).write_text(text, encoding="utf-8")
        except OSError as error:
            late.append(_unsaved(self._place, error))


def _check_place(path: str) -> None:
    """Raise UsageError where no file can be written; what is there, and what is no file, stays as it is."""
    if path in ("", "-") or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
        return
    new = not os.path.exists(path)
    try:
        with open(path, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise _unsaved(path, error) from error
    if new:
        os.unlink(os.path.realpath(path))


def _unsaved(path: str, error: OSError) -> UsageError:
    return UsageError(f"--save-facts {path}: {error.strerror}")


def reports(
    triager: Triager, logs: Iterable[Log], machine: Subject, assume_local: bool, late: list[UsageError]
) -> list[Report]:
    """The reports on logs, with a machine looked at to settle them. That its readings could not be saved is put into ``late``."""
    out = [_settled(triager, log, machine, assume_local) for log in logs]
    machine.save(late)
    return out


@contextmanager
def _saved(machine: Subject) -> Iterator[None]:
    """Save the readings, and say that it could not be done only after what is shown meanwhile."""
    late: list[UsageError] = []
    machine.save(late)
    yield
    if late:
        raise late[0]


def _settled(triager: Triager, log: Log, machine: Subject, assume_local: bool) -> Report:
    case = triager.examine(clean(log))
    diagnosed = triager.report(log, case).verdict == "diagnosed"
    planner = Planner(triager.knowledge, case.met.__contains__)
    while True:
        case = triager.beside(case, machine.facts(), assume_local)
        hypotheses, _ = triager.hypotheses(case)
        open_ones = [h for h in hypotheses if diagnosed or h.prior >= CREDIBLE]
        wanted = planner.next_probes(open_ones, case.machine, machine.ran) if open_ones else {}
        if not wanted:
            return triager.report(log, case, machine.look)
        machine.run({probe: _purpose(causes) for probe, causes in wanted.items()})


def _purpose(causes: Sequence[str]) -> str:
    if not causes:
        return "is the log from this machine?"
    more = f" and {len(causes) - 3} more" if len(causes) > 3 else ""
    return f"is it {', '.join(causes[:3])}{more}?"


def _interpreter(options: argparse.Namespace) -> Interpreter:
    try:
        return choose(options.python, options.venv, options.conda_env)
    except NoInterpreter as error:
        raise UsageError(str(error)) from None


def _load(path: str) -> tuple[list[Outcome], str]:
    try:
        return readings.load(path)
    except ReadingsError as error:
        raise UsageError(f"--facts {error}") from None


def _probe(args: Sequence[str]) -> int:
    parser = Parser(
        prog="cudnn-triage probe",
        description="Look at this machine and say what is wrong with it. Changes nothing, needs no network and no root.",
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="probes to run (default: all; --list names them)")
    parser.add_argument("--list", action="store_true", help="list the probes, what each costs and reads")
    parser.add_argument(
        "--script",
        action="store_true",
        help="print one Python file (3.8 or newer) that runs all probes where nothing can be installed, and prints "
        "what --facts reads",
    )
    parser.add_argument("--exit-code", action="store_true", help="exit 10 when a fault was found")
    examine_options(parser)
    display_options(parser, FORMATS)
    options = parser.parse_intermixed_args(args)
    known = knowledge(options.rules)
    for name in options.ids:
        if name not in known.probes:
            raise UsageError(f"no probe {name!r}{nearest(name, known.probes)}; known: {', '.join(known.probes)}")
    if options.list:
        _list(known)
        return OK
    if options.script:
        emit(script(known))
        return OK
    triager = Triager(known)
    machine = Subject(triager, options)
    machine.run(dict.fromkeys(options.ids or known.probes, ""))
    with _saved(machine):
        if options.save_facts == "-":
            return OK
        report = triager.check_up(machine.facts(), machine.look)
        show([report if options.no_redact else redacted(report)], options)
        if options.format == "text":
            found = [record for run in machine.outcomes for record in run.records]
            rows = "\n".join(["Found there", *inventory(found, verbose=options.verbose)]) + "\n"
            print(rows if options.no_redact else masked(rows), file=output())
        if options.verbose:
            for why in readings.unusable(machine.outcomes, known):
                complain(why)
    return DIAGNOSED if options.exit_code and report.diagnoses else OK


def _list(known: Knowledge) -> None:
    out = output()
    for name, probe in known.probes.items():
        gpu = f", takes up to {probe['gpu_memory'] >> 20} MiB of GPU memory" if probe["gpu_memory"] else ""
        by = "the interpreter examined" if probe["examines"] == "interpreter" else "cudnn-triage's own interpreter"
        print(f"{name}: {probe['title']}", file=out)
        print(f"    cost {probe['cost']}, stopped after {probe['seconds']} s, run by {by}{gpu}", file=out)
        print(f"    reads {', '.join(probe['reads'])}", file=out)


def _verify(args: Sequence[str]) -> int:
    parser = Parser(
        prog="cudnn-triage verify",
        description="After a fix: look again whether a cause is gone. Exits 0 when it is gone, 10 when it is still there, "
        "11 when that cannot be told.",
    )
    parser.add_argument("cause", metavar="CAUSE", help="the cause, as the report names it, for example cudnn-not-found")
    parser.add_argument("log", nargs="?", metavar="FILE", help="the log, where the cause is told by comparing with it")
    examine_options(parser)
    display_options(parser, formats=("text", "json"))
    options = parser.parse_intermixed_args(args)
    known = knowledge(options.rules)
    if options.cause not in known.causes:
        raise UsageError(f"no cause {options.cause!r}{nearest(options.cause, known.causes)}")
    triager = Triager(known)
    machine = Subject(triager, options)
    case = triager.examine(clean(_one_log(options.log))) if options.log else None
    check = verify(options.cause, machine, case, known)
    with _saved(machine):
        as_json = options.format == "json"
        text = (
            json.dumps(check.to_dict(machine.look), ensure_ascii=False)
            if as_json
            else check.text(known, machine.name, machine.look)
        )
        emit(visible_lines(text if options.no_redact else masked(text)) + "\n")
    return {"gone": OK, "still-there": DIAGNOSED, "unknown": UNEXPLAINED}[check.verdict]


def _one_log(name: str) -> Log:
    from .engine import joined
    from .reading import ReadError, read_path

    try:
        return joined(standard_input() if name == "-" else read_path(name), name)
    except ReadError as error:
        raise unreadable(error) from error
