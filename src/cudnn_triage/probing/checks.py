"""Whether a cause is gone: its probes run again, its conditions asked of what they read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from ..conditions import holds
from ..evidence import Case
from ..facts import OF_THE_LOG, Fact, Readings
from ..knowledge.base import Knowledge
from ..knowledge.trees import asks_the_log, fact_names
from ..report import Look
from ..settling import judge
from ..values import show
from ..whereabouts import Ground, machine
from .plan import Planner

Verdict = Literal["gone", "still-there", "unknown"]
_SAID = {"gone": "Gone", "still-there": "Still there", "unknown": "Cannot tell"}


class Examined(Protocol):
    """A machine that can be asked for more."""

    @property
    def ran(self) -> Collection[str]:
        """The probes that need not, or cannot, be run any more."""

    @property
    def look(self) -> Look:
        """What was run."""

    def run(self, wanted: dict[str, str]) -> None:
        """Run probes."""

    def facts(self) -> Iterable[Fact]:
        """The readings so far."""


@dataclass(frozen=True)
class Check:
    """The answer, what it rests on, and of what is unknown, how to find out."""

    cause: str
    verdict: Verdict
    grounds: tuple[Ground, ...]
    missing: tuple[str, ...]  # facts that would decide, and how to read them
    read: tuple[tuple[str, tuple[str, ...]], ...] = ()  # what the cause's conditions ask for, and the values found

    def to_dict(self, look: Look) -> dict[str, Any]:
        """As JSON."""
        return {
            "cause": self.cause,
            "verdict": self.verdict,
            "grounds": [{"why": g.why, "condition": g.condition, "readings": _readings(g)} for g in self.grounds],
            "missing": list(self.missing),
            "readings": {name: list(values) for name, values in self.read},
            "interpreter": look.interpreter,
            "probes": [asdict(item) for item in look.probes],
        }

    def text(self, knowledge: Knowledge, where: str, look: Look) -> str:
        """For people, the answer first."""
        lines = [f"{_SAID[self.verdict]}: {self.cause} ({knowledge.causes[self.cause]['title']}), on {where}"]
        lines += [f"  {ground.why} ({', '.join(_readings(ground))})" for ground in self.grounds]
        if self.verdict == "gone" and not self.grounds:
            lines.append("  nothing that would confirm it is found")
        if self.missing:
            lines.append("What would decide:")
            lines += [f"  {ask}" for ask in self.missing]
        if self.read:
            lines.append("What was read:")
            lines += [
                f"  {_title(name, knowledge)} = {', '.join(values) or 'none found'}" for name, values in self.read
            ]
        for item in look.probes:
            if item.status not in ("ok", "skipped"):
                lines.append(f"The probe {item.name} {item.status}{f': {item.reason}' if item.reason else ''}")
        return "\n".join(lines)


def _readings(ground: Ground) -> list[str]:
    return [f"{fact.name} = {fact.text}" for fact in ground.facts]


def _title(name: str, knowledge: Knowledge) -> str:
    fact = knowledge.facts.get(name)
    return f"{fact['title']} ({name})" if fact else name


def verify(cause: str, there: Examined, case: Case | None, knowledge: Knowledge) -> Check:
    """Look again for ``cause``; ``case`` is the log it was found in, where that is at hand.

    It is gone when something refutes it, or when nothing that would confirm it is found: each condition known to be false, or
    what it asks for looked for and not there. Where what the cause is about is not there at all (no driver, no framework),
    nobody can tell.
    Differences between log and machine do not matter here, since a fix makes some.
    """
    rule = knowledge.causes[cause]
    confirm = [item for item in rule["confirm"] if case or not asks_the_log(item["when"])]
    refute = [item for item in rule["refute"] if case or not asks_the_log(item["when"])]
    seen = case.met.__contains__ if case else lambda name: None
    planner = Planner(knowledge, seen)
    while True:
        now = machine(there.facts(), case.facts if case else None, seen, knowledge, True)
        status, grounds = judge(confirm, refute, now.scope, seen)
        wanted = planner.cheapest(planner.asked([*confirm, *refute], now.scope, there.ran))
        if status == "confirmed" or not wanted:
            break
        there.run(dict.fromkeys(wanted, f"is it {cause}?"))
    ended = {item.name: item.status for item in there.look.probes}
    read = tuple(_read([*confirm, *refute], now.scope, planner, ended))
    if status == "confirmed":
        return Check(cause, "still-there", grounds, (), read)
    absent = [_absent(item["when"], now.scope, planner) for item in confirm]
    if absent and all(absent):
        missing = [_ask(name, knowledge) for names in absent for name in names]
        return Check(cause, "unknown", (), tuple(dict.fromkeys(missing)), read)
    not_found = confirm and all(_not_found(item["when"], now.scope, planner, ended) for item in confirm)
    if status == "refuted" or not_found:
        return Check(cause, "gone", grounds, (), read)
    if not rule["confirm"] and not rule["refute"]:
        missing = ["no reading of a machine settles this cause: run the program again and look at its log"]
    elif not confirm and not refute:
        missing = [f"the log it was found in: cudnn-triage verify {cause} FILE"]
    else:
        missing = list(_unknown([*confirm, *refute], now.scope, knowledge))
    return Check(cause, "unknown", (), tuple(dict.fromkeys(missing)), read)


def _unknown(conditions: Iterable[dict[str, Any]], scope: Readings, knowledge: Knowledge) -> Iterator[str]:
    """The readings that conditions ask for and nobody has, with how to get them."""
    for name in dict.fromkeys(name for item in conditions for name in fact_names(item["when"])):
        if not name.startswith(OF_THE_LOG) and not scope.values(name) and (ask := _ask(name, knowledge)):
            yield ask


def _read(
    conditions: Iterable[dict[str, Any]], scope: Readings, planner: Planner, ended: Mapping[str, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What conditions ask for and was read, with the values; without any where it was looked for and is not there."""
    for name in dict.fromkeys(name for item in conditions for name in fact_names(item["when"])):
        values = tuple(map(show, scope.values(name)))
        if values or _looked_for(name, planner, ended):
            yield name, values


def _looked_for(name: str, planner: Planner, ended: Mapping[str, str]) -> bool:
    """Whether a fact that lists what is found would be known if there were any: the probes that read it ran to their end."""
    if name.startswith(OF_THE_LOG) or not planner.lists(name):
        return False
    answers = {ended.get(probe, "") for probe in planner.readers(name)}
    return "ok" in answers and answers <= {"ok", "skipped"}


def _not_found(tree: list[Any], scope: Readings, planner: Planner, ended: Mapping[str, str]) -> bool:
    """Whether a condition does not hold, or what would make it hold was looked for by probes that ran to their end.

    Silence about facts that list what was found (``many``) counts here, unlike in a diagnosis: the question is whether what
    confirmed the cause is still found. Silence about any other fact means that it could not be read.
    """
    result = holds(tree, scope, planner.seen)
    if result is not None:
        return not result
    unknown = [name for name in fact_names(tree) if not scope.values(name)]
    return bool(unknown) and all(_looked_for(name, planner, ended) for name in unknown)


def _absent(tree: list[Any], scope: Readings, planner: Planner) -> list[str]:
    """The facts by which a condition does not hold because the thing that it asks about is not there."""
    if tree[0] == "or":
        parts = [_absent(part, scope, planner) for part in tree[1:]]
        return [name for names in parts for name in names] if all(parts) else []
    if tree[0] == "and":
        return [name for part in tree[1:] for name in _absent(part, scope, planner)]
    if tree[0] != "==" or tree[1][0] != "fact":
        return []
    name = str(tree[1][1])
    premise = planner.knowledge.facts.get(name, {}).get("premise")
    return [name] if premise and holds(tree, scope, planner.seen) is False else []


def _ask(name: str, knowledge: Knowledge) -> str:
    fact = knowledge.facts.get(name)
    if fact is None:
        return ""
    return f"{fact['title']} ({name})" + (f": {fact['ask']}" if fact["ask"] else "")
