"""From evidence to ranked hypotheses with a probability each: a log-linear model of a few fitted numbers (rules/weights.yaml)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from .evidence import Evidence
from .light import record, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .vocabulary import Status

DEFAULTS: dict[str, float] = {
    "certain": 6.0,  # log-odds that a message of this strength adds, the first time
    "strong": 4.2,
    "likely": 2.8,
    "possible": 1.4,
    "weak": 0.5,
    "failing": 1.0,  # factor for messages in the lines of a failure
    "plain": 0.9,  # factor for messages elsewhere
    "notice": 0.6,  # factor for messages that the program survived
    "earlier": 0.45,  # factor for messages of an attempt after which another one failed; set, not fitted: few logs hold several
    "fuzzy": 0.6,  # factor for messages recognised by likeness only; set, not fitted: few logs have any
    "general": 0.82,  # the most that a cause can be believed of which messages are read in general terms only; set: of 2213
    # such answers 0.94 were right where the signatures that know the message were taken out, of 77 on fresh logs 0.74
    "hunch": 0.3,  # log-odds of a cause of which only the words of the log speak, beside one that a message points to; set
    "lean": 0.2,  # how much of the log-odds by the words is added where rules leave several causes open; set: of 0.1 to 1 the
    # best first causes on 634 logs that neither rules nor model had seen (0.2 to 0.5 on 1950 earlier ones), and the more, the
    # more answers it turned away from what other people's labels put first
    "trace": 0.01,  # how much of its probability by the words a cause keeps, however sure the first is; set: of the second and
    # third causes that only the words named on those logs, about this many were the right ones
    "again": 0.3,  # factor for each further piece of evidence
    "none": 1.0,  # log-odds that no cause of the list is behind the log
    "confirmed": 0.97,  # least probability that the confirmed causes share; set, not fitted: the lab judges it
    "refuted": 0.03,  # what is left of the odds of a refuted cause; set, not fitted
    "temperature": 1.0,  # divides log-odds before they become probabilities; fitted for calibration
    "lead": 0.4,  # how much of the other causes' probability goes to the likeliest; set, not fitted: of 112 first answers given at
    # 0.3 to 0.7 on fresh logs (mean 0.49) 0.49 were the very cause and 0.85 one that an expert accepts
    "doubt": 0.02,  # how much of the probability goes by the log-odds as they are; set, not fitted: keeps lesser causes in view
}
"""Used where rules/weights.yaml gives no number. What each number means stands beside it."""
_NONE = ""  # stands among causes for: none of them
_IMPROBABLE = 0.0001  # the least probability that words give a cause
# log-odds that a cause is the root though another was put first: what they are before anything is known, what each of its own
# log-odds adds, and what the logarithm of its probability by the words does. Set by logistic regression over the 6649 lesser
# causes of 2732 diagnoses of logs that neither rules nor model had seen (docs/fresh-logs.md, 'The causes behind the first')
_BEHIND, _BY_RULES, _BY_WORDS = -1.5, 0.37, 0.5
_UNHEARD = 0.01  # the probability by the words of a cause of which the model of words says nothing
_BARELY = 0.0001  # log-odds that are left to a cause that words speak against, so that it stays in view
WORTH_ASKING = 0.0001  # hypotheses less probable than this are not looked into, nor shown beside what readings settled


@record(frozen=True, slots=True)
class Hypothesis:
    """A cause with all that speaks for and against it."""

    cause: str
    score: float  # log-odds before normalisation
    probability: float
    evidence: tuple[Evidence, ...]
    prior: float = 0.0  # the probability by the log alone
    status: Status = "suspected"  # or confirmed, refuted: by readings of the machine


def rank(
    evidence: Iterable[Evidence],
    competing: Iterable[str],
    weights: Mapping[str, float],
    hunches: Iterable[Evidence] = (),
) -> tuple[list[Hypothesis], float]:
    """Hypotheses, best first, and the probability that none of them holds.

    ``competing`` names the causes that exclude one another; all others are scored by themselves, with probability 1.
    ``hunches`` say how probable the words of the log make some of them.
    """
    numbers = {**DEFAULTS, **weights}
    by_cause: dict[str, list[Evidence]] = {}
    for item in evidence:
        by_cause.setdefault(item.cause, []).append(item)
    most = numbers["none"] + numbers["temperature"] * math.log(numbers["general"] / (1 - numbers["general"]))
    scored = {cause: score(items, numbers) for cause, items in by_cause.items()}
    general = [cause for cause, items in by_cause.items() if _in_general(items)]
    top = max((scored[cause] for cause in general), default=0.0)
    if top > most:
        scored.update((cause, scored[cause] * most / top) for cause in general)
    scored = {cause: value for cause, value in scored.items() if value > 0}
    words = {hunch.cause: hunch for hunch in hunches}
    _lean(scored, {cause: hunch.odds for cause, hunch in words.items()}, numbers)
    rivals = {_NONE: numbers["none"]}
    competing = frozenset(competing)
    rivals.update((cause, value) for cause, value in scored.items() if cause in competing)
    sharp, plain, doubt = _shares(rivals, numbers["temperature"]), _shares(rivals, 1.0), numbers["doubt"]
    shared = {cause: (1 - doubt) * sharp[cause] + doubt * plain[cause] for cause in rivals}
    none = shared.pop(_NONE)
    chances = _favouring_the_first(shared, scored, numbers["lead"])
    for cause in words.keys() & chances.keys():
        chances[cause] = max(chances[cause], numbers["trace"] * words[cause].odds)
    hypotheses = [
        Hypothesis(cause, value, chances.get(cause, 1.0), tuple(said), chances.get(cause, 1.0))
        for cause, value in scored.items()
        for said in [by_cause.get(cause) or [words[cause]]]
    ]
    hypotheses.sort(key=lambda h: (-h.score, h.cause))
    return hypotheses, none


def behind(hypotheses: Sequence[Hypothesis], words: Mapping[str, float]) -> list[Hypothesis]:
    """The hypotheses again (best first): behind the first the likeliest of the others, each with the probability that it is the
    root although the first was put before it.

    How sure the first is tells how often it is an answer that an expert accepts; several causes often are, and of those that
    share a message the words tell best which it was. So this does not go by what the first leaves of the probability: one is
    as probable as its own evidence and ``words`` (probabilities by cause) make it, and never more than the first.
    """

    def chance(other: Hypothesis) -> float:
        by_words = math.log(max(words.get(other.cause, _UNHEARD), _IMPROBABLE))
        odds = _BEHIND + _BY_RULES * other.score + _BY_WORDS * by_words
        return min(1 / (1 + math.exp(-odds)), hypotheses[0].probability)

    others = [replaced(other, probability=chance(other)) for other in hypotheses[1:]]
    return [*hypotheses[:1], *sorted(others, key=lambda h: (-h.probability, -h.score, h.cause))]


def _lean(scored: dict[str, float], chances: Mapping[str, float], numbers: Mapping[str, float]) -> None:
    """Move what rules say of causes towards what the words say; how much they are worth together stays."""
    before = [value for cause, value in scored.items() if cause in chances]
    if not before:
        return
    leant = {
        cause: scored.get(cause, numbers["hunch"]) + numbers["lean"] * math.log(max(chance, _IMPROBABLE))
        for cause, chance in chances.items()
    }
    shift = _worth(before, numbers["temperature"]) - _worth(leant.values(), numbers["temperature"])
    scored.update((cause, max(value + shift, _BARELY)) for cause, value in leant.items())


def _worth(values: Iterable[float], temperature: float) -> float:
    """The log-odds of one cause that is as probable as those of these log-odds together."""
    values = list(values)
    top = max(values)
    return top + temperature * math.log(sum(math.exp((value - top) / temperature) for value in values))


def _shares(scores: Mapping[str, float], temperature: float) -> dict[str, float]:
    """The probabilities that log-odds divided by ``temperature`` stand for."""
    top = max(scores.values())
    shares = {cause: math.exp((value - top) / temperature) for cause, value in scores.items()}
    total = sum(shares.values())
    return {cause: share / total for cause, share in shares.items()}


def _favouring_the_first(chances: Mapping[str, float], scores: Mapping[str, float], lead: float) -> dict[str, float]:
    """``chances`` with a share of the other causes' probability given to the likeliest: causes that a message cannot tell apart
    are often both acceptable answers, and what stands first is more often right than its odds say."""
    if not chances:
        return {}
    first = min(chances, key=lambda cause: (-scores[cause], cause))
    left = {cause: chance * (1 - lead) for cause, chance in chances.items()}
    return {**left, first: chances[first] + lead * (sum(chances.values()) - chances[first])}


def _in_general(items: list[Evidence]) -> bool:
    """Whether all that speaks for a cause was read in general terms."""
    return all(item.occurrence is not None and item.occurrence.general for item in items if item.supports)


def score(items: list[Evidence], numbers: Mapping[str, float]) -> float:
    """Log-odds of a cause: its best evidence in full, each further place in the log for less, contrary evidence off.

    Messages on the same line count once; one message said many times counts once.
    """
    best: dict[object, float] = {}
    against: dict[str, float] = {}
    for item in items:
        value = numbers[item.strength]
        if item.occurrence:
            value *= numbers[item.standing] * (numbers["fuzzy"] if item.occurrence.match == "fuzzy" else 1.0)
            value = max(value + numbers["temperature"] * math.log(item.odds), 0.0)
        if not item.supports:
            against[item.id] = max(against.get(item.id, 0.0), value)
            continue
        best[item.id] = max(best.get(item.id, 0.0), value)
    places: dict[object, float] = {}
    for item in items:
        if item.supports:
            place: object = item.occurrence.first if item.occurrence else item.id
            if item.id in best:
                places[place] = max(places.get(place, 0.0), best.pop(item.id))
    total, factor = 0.0, 1.0
    for value in sorted(places.values(), reverse=True):
        total += value * factor
        factor *= numbers["again"]
    return total - sum(against.values())
