"""What logs with such words turned out to be: a linear model over the words of a log (rules/hunches.yaml).

Rules know messages one by one. Where they leave several causes open, or know nothing, the words together, and the pairs in which
they stand, lean towards what the logs of the corpus with such words had. The model is learned from whole logs. Where rules point to
causes of the field only the lines that tell of them are asked, so that nothing else in the log has a say; where rules know nothing
of it, the whole log is. A hunch orders what rules point to, names further suspects behind them, and is an answer only where there
would be none; it is never believed as much as a message.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from .evidence import FAILING, HUNCH, Case, Evidence
from .facts import Fact
from .knowledge.base import Knowledge
from .light import pattern, replaced
from .ranking import Hypothesis
from .wording import has_error_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Rows = Mapping[str, Sequence[Any]]
    Known = dict[
        str, tuple[float, float, dict[int, float]]
    ]  # how much a word counts, how rare it is, its weight for causes

_LETTERS = "[a-z_][a-z_0-9]+"
_WORD = pattern(rf"{_LETTERS}|[\u4e00-\u9fff]+")
_PLAIN_WORD = pattern(_LETTERS)  # the same for a line of ASCII, compiled in a tenth of the time
_MOST = 300  # lines whose words are read: of a longer log those that complain, with what stands around them
_BEFORE, _BEHIND = 3, 2  # lines around a complaint
_FEW = 8  # different words from which a log without a complaint is read
_LONGEST = 400  # characters of a line that are read
_OF_A_MESSAGE = 12  # lines of one message that are read
_OF_A_FAILURE = 100  # lines of one failure that are read
_SAME = 3  # values of one fact that count
_SHORT = 25  # characters from which the value of a fact is no word
_TELLING = 5  # words that are shown
_SUSPECTS = 3  # causes that a hunch names
_NAMED = 0.02  # probability from which it names them
_SUSPECTED = 0.05  # probability from which one may be an answer
_RARE = 3.0  # how rare one of the words has to be that speak for such a cause: 'failed' and 'error' stand in every log
# of the probability, where rules leave it to causes of the field, up to which a hunch is asked for the answer
_OPEN = 0.5
# how probable some cause of the field has to be by its words, and the first one, for an answer where all that is known of the log
# is of another kind, and where nothing is. Set on 3263 logs that neither rules nor model had seen (docs/fresh-logs.md, 'Words'),
# where from 0.6 and 0.1 on they answered about as well
_CLEAR, _LEADING = 0.8, 0.2
_PUZZLED, _GUESSED = 0.5, 0.1
# the most that an answer by words alone is believed: of 116 on those logs 51 were the very cause, 82 one that an expert accepts
_BELIEVED = 0.45
_SEVERAL = 2  # lines known to be harmless that make a log known which complains of nothing else


class Hunches:
    """The model of one knowledge base, or one given as its head and a row for each word. Threads may share it."""

    def __init__(self, head: Mapping[str, Any], rows: Rows, knowledge: Knowledge) -> None:
        self._head, self._rows, self._knowledge = head, rows, knowledge

    def of(self, case: Case) -> tuple[Evidence, ...]:
        """For each cause that something speaks for, and the likeliest others, how probable the words make it (``odds``);
        likewise for 'not about the GPU'. Nothing of causes that the model has not learned; empty where it knows no word."""
        words = _asked(case, self._knowledge)
        known = self._known(words)
        if not known:
            return ()
        chances = self._chances(known)
        field, off_field = self._knowledge.in_field, self._knowledge.off_field
        spoken = dict.fromkeys(e.cause for e in case.evidence if e.supports and e.cause in field and e.cause in chances)
        others = [c for c in sorted(chances, key=lambda c: (-chances[c], c)) if c in field and c not in spoken]
        likely = [c for c in others[:_SUSPECTS] if chances[c] >= _NAMED]
        telling = {
            c: self._telling(c, words, known) for c in (*spoken, *likely, *(c for c in chances if c in off_field))
        }
        for cause in likely:
            if all(known[word][1] < _RARE for word in telling[cause]):
                del telling[cause]
        return tuple(self._evidence(c, chances[c], said, words) for c, said in telling.items())

    def _chances(self, known: Known) -> dict[str, float]:
        """How probable each cause is by these words alone."""
        sums = list(self._head["base"])
        for share, _, weights in known.values():
            for number, weight in weights.items():
                sums[number] += share * weight
        top = max(sums)
        odds = [math.exp(value - top) for value in sums]
        total = sum(odds)
        return {cause: value / total for cause, value in zip(self._head["causes"], odds, strict=True)}

    def _known(self, words: Mapping[str, int]) -> Known:
        """The words that the model knows, with how much each counts: rare ones more, all together as long as one."""
        rows = {word: row for word in words if (row := self._rows.get(word))}
        length = math.sqrt(sum(row[0] ** 2 for row in rows.values())) or 1.0
        return {
            word: (row[0] / length, row[0], dict(zip(row[1::2], row[2::2], strict=True))) for word, row in rows.items()
        }

    def _telling(self, cause: str, words: Mapping[str, int], known: Known) -> list[str]:
        """The words of the log that speak for a cause, the weightiest first, each once though it stands in pairs as well."""
        number = self._head["causes"].index(cause)
        weight = {
            word: share * weights[number]
            for word, (share, _, weights) in known.items()
            if words[word] and number in weights
        }
        told: list[str] = []
        single: set[str] = set()
        for word in sorted((word for word in weight if weight[word] > 0), key=lambda w: (-weight[w], w)):
            if not single.issuperset(word.split()):
                told.append(word)
                single.update(word.split())
        return told[:_TELLING]

    def _evidence(self, cause: str, chance: float, telling: Sequence[str], words: Mapping[str, int]) -> Evidence:
        line = words[telling[0]] if telling else 0
        fact = Fact("log.words", ", ".join(telling), "structure", line)
        return Evidence(cause, HUNCH, True, "fact", fact.name, self._head["why"], facts=(fact,), odds=chance)


def words_of(case: Case, knowledge: Knowledge) -> dict[str, int]:
    """The words of a log, and the pairs in which they stand, each with the number of its first line, and the facts as words.

    A short log is read whole, a long one where it complains.
    """
    lines = range(len(case.lines))
    if len(lines) <= _MOST:
        return _words(lines, case)
    read = sorted(
        {
            i
            for at in _complaints(case, knowledge)
            for i in range(max(0, at - _BEFORE), min(len(lines), at + _BEHIND + 1))
        }
    )
    return _words(read if len(read) <= _MOST else [*read[: _MOST // 2], *read[-_MOST // 2 :]], case)


def _asked(case: Case, knowledge: Knowledge) -> dict[str, int]:
    """The words that have a say: where rules point to causes of the field those of the telling lines, else those of the whole log.

    A command or a word or two, of which none complains, tell nothing.
    """
    if any(e.supports and e.cause in knowledge.in_field for e in case.evidence):
        return _words(sorted(_telling_lines(case, knowledge))[:_MOST], case)
    words = words_of(case, knowledge)
    alone = sum(line > 0 and " " not in word for word, line in words.items())
    return words if alone >= _FEW or _complaints(case, knowledge) else {}


def _telling_lines(case: Case, knowledge: Knowledge) -> set[int]:
    """The lines of messages that point to a cause, of failures, and errors of this field that no rule knows."""
    telling = set(case.unknown)
    for occurrence in case.occurrences:
        if any(p["cause"] in knowledge.competing for p in knowledge.by_id[occurrence.rule]["points_to"]):
            telling.update(range(occurrence.first, min(occurrence.last + 1, occurrence.first + _OF_A_MESSAGE)))
    for failure in case.structure.failures:
        telling.update(range(failure.first, min(failure.last + 1, failure.first + _OF_A_FAILURE)))
    return telling


def _complaints(case: Case, knowledge: Knowledge) -> set[int]:
    """The telling lines, and all others that use words of errors."""
    return _telling_lines(case, knowledge).union(
        i for i, line in enumerate(case.lines) if has_error_word(line.text, knowledge)
    )


def _words(lines: Iterable[int], case: Case) -> dict[str, int]:
    """The words of these lines and their pairs, with the facts of the log beside them."""
    words: dict[str, int] = {}
    for index in lines:
        line = case.lines[index]
        text = line.text[:_LONGEST].lower()
        found = (_PLAIN_WORD if text.isascii() else _WORD).findall(text)
        for word in (*found, *(f"{one} {next_one}" for one, next_one in pairwise(found))):
            words.setdefault(word, line.number)
    if not words:
        return {}
    for name in sorted(case.facts.names()):
        words[f"{name}:"] = 0
        for value in case.facts.values(name)[:_SAME]:
            text = str(value).lower()
            if len(text) < _SHORT and not text.replace(".", "").isdecimal():
                words[f"{name}: {text}"] = 0
    return words


def guess(found: list[Hypothesis], none: float, case: Case, knowledge: Knowledge) -> tuple[list[Hypothesis], float]:
    """``found`` and ``none``, or what the words say where rules leave next to nothing to the causes of the field."""
    suspects = _suspects(case, knowledge)
    ours = {h.cause: h for h in found if h.cause in knowledge.in_field}
    field = 1 - sum(e.odds for e in case.hunches if e.cause in knowledge.off_field)
    likeliest = max((e.odds for e in suspects), default=0.0)
    sure = field >= _CLEAR and likeliest >= _LEADING
    open_to_words = (
        case.of_the_field
        and (sure or (field >= _PUZZLED and likeliest >= _GUESSED))
        and not case.structure.ended_well
        and sum(h.prior for h in ours.values()) <= _OPEN
        and not any(_of_another_kind(e, knowledge) for h in found for e in h.evidence)
        and not _known_to_be_harmless(case, knowledge)
    )
    if not open_to_words:
        return found, none
    total = sum(e.odds for e in suspects)
    guesses: list[Hypothesis] = []
    for hunch in sorted(suspects, key=lambda e: (-e.odds, e.cause)):
        said = ours[hunch.cause].evidence if hunch.cause in ours else ()
        chance = _BELIEVED * hunch.odds / total
        words = replaced(hunch, standing=FAILING) if sure else hunch
        guesses.append(Hypothesis(hunch.cause, hunch.odds, chance, (*said, words), chance))
    kept = [h for h in found if h.cause not in ours and not (sure and h.cause in knowledge.off_field)]
    return [*guesses, *kept], 1 - _BELIEVED


def _suspects(case: Case, knowledge: Knowledge) -> list[Evidence]:
    """The causes of the field that the words speak of, but for those that a message or fact excludes."""
    excluded = {e.cause for e in case.evidence if not e.supports and e.strength == "certain"}
    ours = (e for e in case.hunches if e.cause in knowledge.in_field and e.cause not in excluded)
    return [e for e in ours if e.odds >= _SUSPECTED]


def _known_to_be_harmless(case: Case, knowledge: Knowledge) -> bool:
    """Whether rules know what such a log could be taken to complain of: several of its messages as harmless, no failure, and no
    error of this field that is left unexplained."""
    if case.unknown or case.structure.uncaught:
        return False
    ours = knowledge.in_field | knowledge.off_field
    harmless = {e.occurrence.first for e in case.evidence if e.supports and e.occurrence and e.cause not in ours}
    return len(harmless) >= _SEVERAL


def _of_another_kind(e: Evidence, knowledge: Knowledge) -> bool:
    """Whether a message that says more than that something failed tells that the trouble is not of this field."""
    if e.cause not in knowledge.off_field or not e.supports or e.occurrence is None:
        return False
    return not knowledge.by_id[e.occurrence.rule]["catch_all"]
