"""Which probes to run next: those whose readings could still confirm or refute a leading hypothesis, cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ..conditions import Seen, holds
from ..facts import OF_THE_LOG, Readings, covers
from ..knowledge.base import Knowledge
from ..knowledge.trees import fact_names
from ..ranking import WORTH_ASKING, Hypothesis
from ..settling import CREDIBLE, conditions, rivals
from ..tables import sources
from ..whereabouts import Machine

_WORTH_MUCH = 0.01  # hypotheses less probable than this are not worth importing a framework
_LITTLE, _ANY = 3, 9  # costs, of rules/probes.yaml
Outcomes = set[bool | None]


@dataclass
class Planner:
    """Plans for one log (or for none) with one knowledge base."""

    knowledge: Knowledge
    seen: Seen
    _readers: dict[str, list[str]] = field(default_factory=dict)

    def next_probes(
        self, hypotheses: Sequence[Hypothesis], machine: Machine, ran: Collection[str]
    ) -> dict[str, list[str]]:
        """The probes to run next, each with the causes it may settle; empty when all is settled or nothing can be.

        First whether these readings would be of the machine that the log is from; then the leading hypotheses, then the
        others, for the least probable only what costs little; never one that is less probable than a confirmed one.
        """
        if not machine.counts:
            return {}
        wanted = self._wanted(hypotheses, machine.scope, ran)
        if wanted or any(h.status != "suspected" for h in hypotheses):
            where = self.cheapest(self._whereabouts(machine.scope, ran))
            if where:
                return {probe: [] for probe in where}
        return wanted

    def _wanted(self, hypotheses: Sequence[Hypothesis], scope: Readings, ran: Collection[str]) -> dict[str, list[str]]:
        """The cheapest probes that can settle something about the likeliest group of hypotheses with open questions."""
        ours = rivals(hypotheses, self.knowledge)
        confirmed = next((i for i, h in enumerate(ours) if h.status == "confirmed"), len(ours))
        above = ours[:confirmed]
        leading = [h for h in above if h.probability >= CREDIBLE or h is above[0]]
        others = [h for h in above if h.probability >= _WORTH_MUCH]
        for group, most in ((leading, _ANY), (others, _ANY), (above, _LITTLE)):
            wanted: dict[str, list[str]] = {}
            for hypothesis in group:
                confirm, refute = conditions(hypothesis, ours[0], self.knowledge)
                shown = hypothesis.prior >= WORTH_ASKING and hypothesis.status != "refuted"
                for probe in self.asked([*confirm, *refute] if shown else confirm, scope, ran):
                    if self._cost(probe) <= most:
                        wanted.setdefault(probe, []).append(hypothesis.cause)
            cheapest = self.cheapest(wanted)
            if cheapest:
                return {probe: wanted[probe] for probe in cheapest}
        return {}

    def asked(self, items: Iterable[dict[str, Any]], scope: Readings, ran: Collection[str]) -> set[str]:
        """The probes not yet run that could make one of these conditions hold."""
        return {probe for item in items for probe in self._asked(item["when"], scope, ran)}

    def _asked(self, tree: list[Any], scope: Readings, ran: Collection[str]) -> Iterator[str]:
        """The unrun probes that read what ``tree`` asks for, if it could become true by them."""

        def askable(name: str) -> bool:
            return self._askable(name, scope, ran)

        if True in possible(tree, scope, self.seen, askable) and holds(tree, scope, self.seen) is not True:
            for name in filter(askable, fact_names(tree)):
                yield from (probe for probe in self.readers(name) if probe not in ran)

    def _askable(self, name: str, scope: Readings, ran: Collection[str]) -> bool:
        if name.startswith(OF_THE_LOG):
            return False
        if scope.values(name) and not self.lists(name):
            return False
        return any(probe not in ran for probe in self.readers(name))

    def _whereabouts(self, scope: Readings, ran: Collection[str]) -> set[str]:
        """The probes that tell whether the log is from elsewhere. Of several that read a fact, only the cheapest is asked."""
        out: set[str] = set()
        for item in self.knowledge.elsewhere:
            asked = set(self._asked(item["when"], scope, ran))
            for name in fact_names(item["when"]):
                readers = self.cheapest(self.readers(name))
                out |= {probe for probe in readers if probe in asked}
        return out

    def lists(self, name: str) -> bool:
        """Whether a fact lists what is found, so that there may be several values, or none."""
        return bool(self.knowledge.facts.get(self._declared(name), {}).get("many"))

    def readers(self, name: str) -> list[str]:
        """The probes that read a fact, or one from which a table works it out."""
        if name not in self._readers:
            fact = self._declared(name)
            tables = [(table["keys"], table["gives"].values()) for table in self.knowledge.tables]
            known = sources(fact, tables)
            self._readers[name] = [
                probe
                for probe, entry in self.knowledge.probes.items()
                if fact.startswith(f"probe.{probe}.") or any(covers(entry["reads"], source) for source in known)
            ]
        return self._readers[name]

    def _declared(self, name: str) -> str:
        """The fact of which ``name`` is an attribute, or ``name``."""
        stem = name
        while stem and stem not in self.knowledge.facts:
            stem = stem.rpartition(".")[0]
        return stem or name

    def cheapest(self, probes: Iterable[str]) -> list[str]:
        """Those of ``probes`` that cost least."""
        probes = list(probes)
        least = min((self.knowledge.probes[probe]["cost"] for probe in probes), default=0)
        return [probe for probe in self.knowledge.probes if probe in probes and self._cost(probe) == least]

    def _cost(self, probe: str) -> int:
        return int(self.knowledge.probes[probe]["cost"])


def possible(tree: list[Any], scope: Readings, seen: Seen, askable: Callable[[str], bool]) -> Outcomes:
    """What a condition may turn out to be, once the facts that can still be asked for are read."""
    kind = tree[0]
    if kind == "not":
        return {None if value is None else not value for value in possible(tree[1], scope, seen, askable)}
    if kind in ("and", "or"):
        decisive = kind == "or"
        found: Outcomes = {not decisive}
        for part in tree[1:]:
            pairs = product(found, possible(part, scope, seen, askable))
            found = {decisive if decisive in pair else None if None in pair else not decisive for pair in pairs}
        return found
    asked = fact_names(tree)
    if any(not askable(name) and not scope.values(name) for name in asked):
        return {holds(tree, scope, seen)}
    if any(map(askable, asked)):
        return {True, None} if kind == "known" else {True, False, None}
    return {holds(tree, scope, seen)}
