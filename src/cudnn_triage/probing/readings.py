"""What probes said, as data and as facts: outcomes of runs, typed readings, the file that carries them to another machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..facts import Fact, covers
from ..knowledge.base import Knowledge
from ..report import ProbeItem
from ..values import Value, read
from ..vocabulary import ProbeStatus

FORMAT, VERSION = "cudnn-triage readings", 1
HEAD = {"format": FORMAT, "version": VERSION, "tool": __version__}
"""With what every file of readings begins."""
_LONGEST = 4000  # characters of one reading
_DEEPEST = 20  # maps and lists within one another
_MOST = 2000  # values of one fact
_STATUSES: tuple[ProbeStatus, ...] = ("ok", "skipped", "failed", "timed-out", "crashed")


class ReadingsError(Exception):
    """A file of readings cannot be used; the message says what is wrong in it."""


@dataclass(frozen=True)
class Outcome:
    """One probe's run: how it ended, and every line it said."""

    probe: str
    status: ProbeStatus
    reason: str
    seconds: float
    crashed: str
    stage: str
    lines: tuple[Mapping[str, Any], ...]

    @property
    def item(self) -> ProbeItem:
        """The run as the report lists it."""
        return ProbeItem(self.probe, self.status, self.reason, self.seconds)

    @property
    def records(self) -> list[tuple[str, Any]]:
        """(kind, content) of the inventory entries."""
        return [(str(line["record"]), line.get("value")) for line in self.lines if "record" in line]

    @property
    def messages(self) -> list[str]:
        """What loaders and frameworks printed while they were examined."""
        return [str(line["message"])[:_LONGEST] for line in self.lines if "message" in line]


def outcome(data: Any, where: str = "") -> Outcome:
    """An outcome from plain data. Raises ReadingsError that names the field."""
    if not isinstance(data, dict):
        raise ReadingsError(f"{where}expected a map, got {type(data).__name__}")
    for name, kind in (("probe", str), ("status", str), ("lines", list)):
        if not isinstance(data.get(name), kind):
            raise ReadingsError(f"{where}{name}: expected {kind.__name__}, got {data.get(name)!r}")
    if data["status"] not in _STATUSES:
        raise ReadingsError(f"{where}status: expected one of {', '.join(_STATUSES)}, got {data['status']!r}")
    seconds = data.get("seconds", 0.0)
    if not isinstance(seconds, (int, float)):
        raise ReadingsError(f"{where}seconds: expected a number, got {seconds!r}")
    return Outcome(
        data["probe"],
        data["status"],
        str(data.get("reason", "")),
        float(seconds),
        str(data.get("crashed", "")),
        str(data.get("stage", "")),
        tuple(line for line in data["lines"] if isinstance(line, dict) and _shallow(line)),
    )


def _shallow(value: Any) -> bool:
    """Whether plain data is nested no deeper than any probe nests it."""
    left = [(value, 0)]
    while left:
        item, depth = left.pop()
        if depth > _DEEPEST:
            return False
        inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        left += [(each, depth + 1) for each in inner]
    return True


def facts(outcomes: Iterable[Outcome], knowledge: Knowledge) -> list[Fact]:
    """The typed readings. What is not declared, not the probe's to say or not of its type is left out (see ``unusable``)."""
    found: dict[Fact, None] = {}
    count: dict[str, int] = {}
    for run in outcomes:
        for name, text in (("ended", run.status), ("crashed", run.crashed), ("stage", run.stage)):
            if text:
                found[Fact(f"probe.{run.probe}.{name}", text, "local")] = None
        for line in run.lines:
            fact = _fact(run.probe, line, knowledge)
            if isinstance(fact, Fact) and fact not in found and count.get(fact.name, 0) < _MOST:
                found[fact] = None
                count[fact.name] = count.get(fact.name, 0) + 1
    return list(found)


def unusable(outcomes: Iterable[Outcome], knowledge: Knowledge) -> list[str]:
    """Why readings were left out, one sentence each: for the authors of probes."""
    said = (_fact(run.probe, line, knowledge) for run in outcomes for line in run.lines)
    return list(dict.fromkeys(why for why in said if isinstance(why, str)))


def _fact(probe: str, line: Mapping[str, Any], knowledge: Knowledge) -> Fact | str | None:
    """The fact of a line, why it cannot be used, or None where it holds no reading."""
    name = line.get("fact")
    if not isinstance(name, str):
        return None
    declared = knowledge.facts.get(name)
    if declared is None and not name.startswith("package."):
        return f"{probe}: fact {name} is not declared in rules/facts/"
    if probe in knowledge.probes and not covers(knowledge.probes[probe]["reads"], name):
        return f"{probe}: fact {name} is not among what rules/probes.yaml says it reads"
    kind = declared["type"] if declared else "version"
    value = typed(kind, line.get("value"))
    if value is None:
        return f"{probe}: {name} = {str(line.get('value'))[:80]!r} is not of type {kind}"
    return Fact(name, knowledge.placed(value), "local")


def typed(kind: str, value: Any) -> Value | None:
    """A JSON value as a value of type ``kind`` of the rule language; None where it is not one."""
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, list):
        value = " ".join(map(str, value))
    if not isinstance(value, (str, int, float)):
        return None
    return read(kind, str(value)[:_LONGEST])


def dump(outcomes: Iterable[Outcome], interpreter: str, masked: Callable[[str], str]) -> str:
    """Readings as the text of a file for ``--facts``; ``masked`` takes the secrets out of a text."""
    runs = [
        {
            "probe": run.probe,
            "status": run.status,
            "reason": run.reason,
            "seconds": run.seconds,
            "crashed": run.crashed,
            "stage": run.stage,
            "lines": list(run.lines),
        }
        for run in outcomes
    ]
    data = {**HEAD, "interpreter": interpreter, "probes": runs}
    return json.dumps(_each_text(data, masked), indent=1, ensure_ascii=False) + "\n"


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_each_text(item, change) for item in value]
    if isinstance(value, dict):
        return {name: _each_text(item, change) for name, item in value.items()}
    return value


def load(path: str) -> tuple[list[Outcome], str]:
    """The outcomes in a file that ``--save-facts`` or the script of ``probe --script`` made, and the interpreter examined.

    Raises ReadingsError that says what is wrong with it.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ReadingsError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ReadingsError(f"{path}: not a file of readings: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ReadingsError(f"{path}: not a file of readings; cudnn-triage probe --save-facts FILE makes one")
    if data.get("version") != VERSION:
        raise ReadingsError(f"{path}: readings of version {data.get('version')!r}; this tool reads version {VERSION}")
    runs = data.get("probes")
    if not isinstance(runs, list):
        raise ReadingsError(f"{path}: probes: expected a list")
    return [outcome(run, f"{path}: probes[{i}].") for i, run in enumerate(runs)], str(data.get("interpreter", ""))
