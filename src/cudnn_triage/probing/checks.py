"""Whether a cause is gone: its probes run again, its conditions asked of what they read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal, Protocol

from ..conditions import holds
from ..evidence import Case
from ..facts import OF_THE_LOG, Fact
from ..knowledge.base import Knowledge
from ..knowledge.trees import asks_the_log, fact_names
from ..report import Look
from ..settling import judge
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

    def to_dict(self, look: Look) -> dict[str, Any]:
        """As JSON."""
        return {
            "cause": self.cause,
            "verdict": self.verdict,
            "grounds": [{"why": g.why, "condition": g.condition, "readings": _readings(g)} for g in self.grounds],
            "missing": list(self.missing),
            "interpreter": look.interpreter,
            "probes": [asdict(item) for item in look.probes],
        }

    def text(self, knowledge: Knowledge, where: str) -> str:
        """For people, the answer first."""
        lines = [f"{_SAID[self.verdict]}: {self.cause} ({knowledge.causes[self.cause]['title']}), on {where}"]
        lines += [f"  {ground.why} ({', '.join(_readings(ground))})" for ground in self.grounds]
        if self.verdict == "gone" and not self.grounds:
            lines.append("  nothing of what would confirm it holds any more")
        if self.missing:
            lines.append("What would decide:")
            lines += [f"  {ask}" for ask in self.missing]
        return "\n".join(lines)


def _readings(ground: Ground) -> list[str]:
    return [f"{fact.name} = {fact.text}" for fact in ground.facts]


def verify(cause: str, there: Examined, case: Case | None, knowledge: Knowledge) -> Check:
    """Look again for ``cause``; ``case`` is the log it was found in, where that is at hand.

    It is gone when something refutes it, or when nothing that would confirm it holds: each condition known to be false.
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
    if status == "confirmed":
        return Check(cause, "still-there", grounds, ())
    results = [holds(item["when"], now.scope, seen) for item in confirm]
    if status == "refuted" or (results and not any(result is not False for result in results)):
        return Check(cause, "gone", grounds, ())
    asked = [name for item in (*confirm, *refute) for name in fact_names(item["when"])]
    unknown = [name for name in dict.fromkeys(asked) if not name.startswith(OF_THE_LOG) and not now.scope.values(name)]
    missing = [ask for name in unknown if (ask := _ask(name, knowledge))]
    if not rule["confirm"] and not rule["refute"]:
        missing = ["no reading of a machine settles this cause: run the program again and look at its log"]
    elif not confirm and not refute:
        missing = [f"the log it was found in: cudnn-triage verify {cause} FILE"]
    return Check(cause, "unknown", (), tuple(dict.fromkeys(missing)))


def _ask(name: str, knowledge: Knowledge) -> str:
    fact = knowledge.facts.get(name)
    if fact is None:
        return ""
    return f"{fact['title']} ({name})" + (f": {fact['ask']}" if fact["ask"] else "")
