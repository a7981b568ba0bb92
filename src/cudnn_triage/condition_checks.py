"""The part of the rule linter that asks whether conditions can ever hold: what logs tell, what only probes read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from .fact_checks import STRUCTURE_FACTS, readable, stems
from .facts import OF_THE_LOG
from .knowledge.condition_language import HOLDS, ConditionError, Tree, names
from .knowledge.rulebook import Rulebook
from .knowledge.templates import Hole, TemplateError
from .knowledge.templates import parse as parse_template
from .knowledge.yamlfile import Problem
from .tables import sources

_ALWAYS = ("python.site",)  # what the engine itself reads from the paths of tracebacks
_PLATFORM = "platform."
_RANKS = "no message and no table tells {}, and readings of a machine rank nothing"
_FIXES = "no message, table or probe tells {}"


def conditions(book: Rulebook) -> Iterator[Problem]:
    """Conditions that rank ask for what logs can tell, those of fixes for what anything can tell; platforms are known first."""
    if book.absent:
        return  # what rules that were taken out would tell is no mistake of the others
    told = _Told(book)
    for signature in book.signatures.values():
        for i, pointer in enumerate(signature.points_to):
            yield from _possible(pointer.when, told.by_logs, _RANKS, book, signature.id, f"$.points_to[{i}].when")
    for cause in book.causes.values():
        for i, item in enumerate(cause.evidence):
            yield from _possible(item.when, told.by_logs, _RANKS, book, cause.id, f"$.evidence[{i}].when")
        for i, fix in enumerate(cause.fixes):
            for field in ("when", "first"):
                text = getattr(fix, field)
                if text != "never":
                    yield from _possible(text, told.by_anything, _FIXES, book, cause.id, f"$.fixes[{i}].{field}")
            yield from _guarded(fix.when, book, cause.id, f"$.fixes[{i}].when")
    used = {name for document in book.files for name in HOLDS.findall(str(document.data))}
    for name in book.conditions.keys() - used:
        document = book.documents[f"conditions/{name}"]
        yield document.problem(f"$.conditions.{name}", f"no rule asks whether it holds({name})")


class _Told:
    """Which facts can be known, and from what."""

    def __init__(self, book: Rulebook) -> None:
        self._book = book
        self._tables = [((table.key, *table.otherwise), table.gives.values()) for table in book.tables.values()]
        self._said = {*STRUCTURE_FACTS, *_ALWAYS}
        for signature in book.signatures.values():
            self._said |= signature.types.keys() | signature.sets.keys()
        listed = [signature.templates for signature in book.signatures.values()]
        for template in itertools.chain(*listed, *(codes.numbered for codes in book.codes.values())):
            try:
                parts = parse_template(template)
            except TemplateError:
                continue  # reported when compiling
            self._said |= {part.name for part in parts if isinstance(part, Hole) and part.name}
        self._declared = book.facts.keys() | STRUCTURE_FACTS.keys()
        self._open = tuple(name.partition("{")[0] for name in self._said if "{" in name)

    def by_logs(self, name: str) -> bool:
        """Whether some message carries a fact, or a table works it out from one. Of one that nobody declared others complain."""
        known = [stem for stem in stems(name) if stem in self._declared]
        return not known or any(
            source in self._said or source.startswith(self._open)
            for stem in known
            for source in sources(stem, self._tables)
        )

    def by_anything(self, name: str) -> bool:
        """Whether a message carries it or a probe reads it."""
        name = name.removeprefix(OF_THE_LOG) if name not in STRUCTURE_FACTS else name
        return self.by_logs(name) or any(readable(stem, self._book) for stem in stems(name))


def _possible(
    text: str, told: Callable[[str], bool], why: str, book: Rulebook, name: str, path: str
) -> Iterator[Problem]:
    tree = _read(text, book)
    if tree is None:
        return
    if not _outcomes(tree, told)[0]:
        untold = sorted(fact for fact in names(tree)[0] if not told(fact))
        yield book.documents[name].problem(path, f"can never hold: {why.format(', '.join(untold))}")


def _guarded(text: str, book: Rulebook, name: str, path: str) -> Iterator[Problem]:
    tree = _read(text, book)
    for fact in sorted(_compared(tree) - _known(tree)) if tree else ():
        if fact.startswith(_PLATFORM):
            said = (
                f"where no line tells {fact}, this fix is shown to everybody: write {fact} is ..., or not {fact} is ..."
            )
            yield book.documents[name].problem(path, said)


def _read(text: str, book: Rulebook) -> Tree | None:
    try:
        return book.condition(text) if text else None
    except ConditionError:
        return None  # reported when compiling


def _outcomes(tree: Tree, told: Callable[[str], bool]) -> tuple[bool, bool]:
    """Whether a condition can be true, and whether it can be false."""
    if tree[0] in ("and", "or"):
        parts = [_outcomes(part, told) for part in tree[1:]]
        some, every = (1, 0) if tree[0] == "and" else (0, 1)
        found = {some: any(part[some] for part in parts), every: all(part[every] for part in parts)}
        return found[0], found[1]
    if tree[0] == "not":
        true, false = _outcomes(tree[1], told)
        return false, true
    if tree[0] == "seen":
        return True, True
    if tree[0] == "known":
        return told(tree[1]), True
    can = all(told(name) for name in names(tree)[0])
    return can, can


def _compared(tree: Tree) -> set[str]:
    """The facts whose value a condition compares."""
    if tree[0] in ("and", "or", "not"):
        return set().union(*map(_compared, tree[1:]))
    return set() if tree[0] in ("known", "seen", "several") else names(tree)[0]


def _known(tree: Tree) -> set[str]:
    """The facts of which it asks whether they are known."""
    if tree[0] in ("and", "or", "not"):
        return set().union(*map(_known, tree[1:]))
    return {tree[1]} if tree[0] == "known" else set()
