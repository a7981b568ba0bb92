"""One fault from beginning to end: break, run, ask the tool, mend, run again, verify; and what came of it."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .environments import Cache, Missing
from .fault import RUNS, Fault
from .needs import SOURCE, lacking
from .world import Outcome, World

_TOOL = f"import sys; sys.path.insert(0, {SOURCE!r}); from cudnn_triage.cli import main; sys.exit(main())"
_GONE, _STILL = 0, 10  # exit codes of cudnn-triage verify
_DRIVERLESS = "driver-not-loaded"  # all that the doctor may find on a laboratory machine in which nothing is broken
_SECONDS = 180.0  # for one run of the tool with its probes


@dataclass
class Verdict:
    """What came of one fault. None in a field: that step was not taken; ``skipped`` says why a fault was not tried."""

    fault: str
    breaks: str
    cause: str | None
    skipped: str = ""
    failed: bool | None = None  # the program failed, as it should
    log_first: str = ""  # the tool's first cause from the log alone, and how sure it was
    log_confidence: float = 0.0
    first: str = ""  # and with probes
    status: str = ""
    confirmed: list[str] = field(default_factory=list)
    refuted: list[str] = field(default_factory=list)
    probes: list[str] = field(default_factory=list)
    doctor: list[str] = field(default_factory=list)  # controls only: what 'cudnn-triage probe' finds with no log
    mended: str = ""
    afterwards: str = ""  # what the program did after mending: runs, or the first cause it then fails for
    verify: str = ""
    named: bool | None = None
    as_expected: bool | None = None  # everything came out as the fault says it should
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Examination:
    """A verdict with the program's log, which is not part of the report."""

    verdict: Verdict
    log: str = ""


def examine(fault: Fault, cache: Cache, given: Path, scratch: Path) -> Examination:
    """Try ``fault``. What goes wrong in the laboratory itself is a skip with its reason, never an exception."""
    verdict = Verdict(fault=fault.id, breaks=fault.breaks, cause=fault.cause, mended=fault.mended)
    began = time.monotonic()
    log = ""
    verdict.skipped = lacking(fault.needs, given)
    folder = scratch / fault.id
    if not verdict.skipped:
        shutil.rmtree(folder, ignore_errors=True)
        world: World | None = None
        try:
            world = World(folder, fault.environment, cache, given)
            log = _try(fault, world, verdict)
        except Missing as missing:
            verdict.skipped = str(missing)
        finally:
            if world:
                world.close()
            shutil.rmtree(folder, ignore_errors=True)
    verdict.seconds = round(time.monotonic() - began, 1)
    return Examination(verdict, log)


def _try(fault: Fault, world: World, verdict: Verdict) -> str:
    fault.inject(world)
    outcome = world.run(*fault.program, seconds=fault.seconds)
    verdict.failed = outcome.code is None if fault.endless else outcome.code != 0
    expected = outcome.code == 0 if (fault.cause is None and not fault.endless) or fault.silent else verdict.failed
    if not expected:
        verdict.wrong.append(f"the program ended with {outcome.code}")
    alone = triage(world, outcome.text)
    verdict.log_first, verdict.log_confidence = first(alone), _confidence(alone)
    report = triage(world, outcome.text, "--probe")
    verdict.first = first(report)
    verdict.status = report["diagnoses"][0]["status"] if report["diagnoses"] else ""
    for status, listed in (("confirmed", verdict.confirmed), ("refuted", verdict.refuted)):
        listed += [item["cause"] for item in report["diagnoses"] if item["status"] == status]
    verdict.probes = [f"{probe['name']} {probe['status']}" for probe in report["probes"]]
    if fault.cause is None and not fault.endless:
        examined = json.loads(tool(world, "probe", "--python", str(world.python), "--format", "json").text)
        verdict.doctor = [item["cause"] for item in examined["diagnoses"]]
    _judge(fault, verdict)
    if fault.cause and fault.mend:
        try:
            _mended(fault, world, verdict, outcome.text)
        except Missing as missing:
            verdict.mended = f"not mended: {missing}"
    verdict.as_expected = not verdict.wrong
    return outcome.text


def _judge(fault: Fault, verdict: Verdict) -> None:
    if fault.cause is None:
        verdict.named = verdict.first in ("", "nothing", "not-gpu-related")
        if not verdict.named:
            verdict.wrong.append(f"nothing is broken, and {verdict.first} was named")
        if {*verdict.doctor} - {_DRIVERLESS}:
            verdict.wrong.append(f"nothing is broken, and the doctor found {', '.join(verdict.doctor)}")
        return
    verdict.named = verdict.first in (fault.cause, *fault.acceptable)
    if not verdict.named:
        verdict.wrong.append(f"{verdict.first or 'nothing'} was named first")
    if fault.settled and fault.cause not in verdict.confirmed and not {*fault.acceptable} & {*verdict.confirmed}:
        verdict.wrong.append("not confirmed")
    if fault.cause in verdict.refuted:
        verdict.wrong.append("the truth was refuted")


def _mended(fault: Fault, world: World, verdict: Verdict, log: str) -> None:
    assert fault.mend
    fault.mend(world)
    outcome = world.run(*fault.program, *world.arguments, seconds=fault.seconds)
    if outcome.code == 0:
        verdict.afterwards = RUNS
    else:
        named = first(triage(world, outcome.text))
        verdict.afterwards = named if named not in ("", "not-gpu-related", "nothing") else f"ended with {outcome.code}"
    if fault.afterwards == RUNS and outcome.code != 0:
        verdict.wrong.append(f"mended, and the program ended with {outcome.code}")
    elif fault.afterwards not in (RUNS, "other") and verdict.afterwards != fault.afterwards:
        verdict.wrong.append(f"mended, and the program fails for {verdict.afterwards} (expected {fault.afterwards})")
    elif fault.afterwards == "other" and verdict.afterwards == fault.cause:
        verdict.wrong.append("mended, and the program fails for the same cause")
    assert fault.cause
    (world.folder / "fault.log").write_text(log, encoding="utf-8")
    done = tool(world, "verify", "--python", str(world.python), fault.cause, str(world.folder / "fault.log"))
    verdict.verify = {_GONE: "gone", _STILL: "still there"}.get(
        done.code if done.code is not None else -1, "cannot tell"
    )
    if fault.in_program:
        verdict.verify += " (the program was changed)"
    elif verdict.verify == "still there" or (fault.settled and verdict.verify != "gone"):
        verdict.wrong.append(f"mended, and verify says: {verdict.verify}")


def triage(world: World, log: str, *options: str) -> dict[str, Any]:
    """The tool's report on ``log``, made inside the world."""
    extra = ["--python", str(world.python)] if "--probe" in options else []
    done = tool(world, "--format", "json", *options, *extra, stdin=log.encode())
    try:
        report: dict[str, Any] = json.loads(done.text)
    except ValueError as error:
        raise Missing(f"cudnn-triage gave no report ({done.code}): {done.text[-300:]}") from error
    return report


def tool(world: World, *arguments: str, stdin: bytes | None = None) -> Outcome:
    """Run cudnn-triage inside the world, by the interpreter that the laboratory runs in."""
    return world.run(sys.executable, "-c", _TOOL, *arguments, seconds=_SECONDS, stdin=stdin, apart=True)


def first(report: dict[str, Any]) -> str:
    """The first cause of a report; 'not-gpu-related' where it says so, '' where nothing is wrong."""
    for item in report["diagnoses"]:
        if item["status"] != "refuted":
            return str(item["cause"])
    return {"unrelated": "not-gpu-related", "unexplained": "nothing"}.get(report["verdict"], "")


def _confidence(report: dict[str, Any]) -> float:
    return round(report["diagnoses"][0]["confidence"], 3) if report["diagnoses"] else 0.0


def table(verdicts: list[Verdict]) -> Iterator[str]:
    """The verdicts as lines of text."""
    width = max((len(v.fault) for v in verdicts), default=5)
    yield f"{'fault':{width}}  {'first':26} {'status':10} {'afterwards':24} {'verify':12} {'s':>5}  as expected"
    for v in verdicts:
        yield line(v, width)
    yield summary(verdicts)


def line(v: Verdict, width: int = 0) -> str:
    """One verdict in a line."""
    if v.skipped:
        return f"{v.fault:{width}}  skipped: {v.skipped}"
    verify = v.verify.partition(" (")[0] or "-"
    columns = f"{v.first or 'no diagnosis':26} {v.status or '-':10} {v.afterwards or '-':24} {verify:12}"
    return f"{v.fault:{width}}  {columns} {v.seconds:5.0f}  " + (
        "yes" if v.as_expected else "NO: " + "; ".join(v.wrong)
    )


def summary(verdicts: list[Verdict]) -> str:
    """The verdicts in one sentence."""
    tried = [v for v in verdicts if not v.skipped]
    broken = [v for v in tried if v.cause]
    controls = [v for v in tried if not v.cause]
    named = [v for v in broken if v.named]
    wrong = sum(v.cause in v.refuted for v in broken)
    return (
        f"{len(tried)} tried, {len(verdicts) - len(tried)} skipped. Of {len(broken)} faults {len(named)} named first, "
        f"{sum(v.status == 'confirmed' for v in named)} of these confirmed; {wrong} refuted wrongly; "
        f"{sum(bool(v.afterwards) for v in broken)} mended, {sum(v.verify == 'gone' for v in broken)} of these verified as gone. "
        f"Of {len(controls)} controls {sum(not v.named for v in controls)} given a diagnosis."
    )


def as_json(verdicts: list[Verdict], machine: dict[str, Any]) -> str:
    """The verdicts and the machine they were made on."""
    return (
        json.dumps({"machine": machine, "faults": [asdict(v) for v in verdicts]}, indent=1, ensure_ascii=False) + "\n"
    )
