"""The part of the rule linter that checks fact names and types: holes, conditions, tables and commands use declared facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .facts import OF_THE_LOG, covers
from .knowledge.condition_language import ConditionError, Tree, names
from .knowledge.rulebook import Rulebook
from .knowledge.schema import Settling
from .knowledge.templates import HOLES, Hole, TemplateError
from .knowledge.templates import parse as parse_template
from .knowledge.yamlfile import Document, Problem
from .near import nearest
from .tables import sources
from .values import version

STRUCTURE_FACTS = {
    "failure.kind": "word",
    "failure.type": "word",
    "failure.explained": "word",
    "failure.vocabulary": "word",
    "failure.package": "word",
    "failure.first.explained": "word",
    "failure.first.kind": "word",
    "failure.first.type": "word",
    "failure.first.vocabulary": "word",
    "log.ranks": "int",
    "log.program": "word",
    "log.carrier": "word",
    "log.ended": "word",
    "log.of_field": "word",
}
"""Facts that the structure of the log yields without a rule (docs/rules.md), with their types."""
_FOR_FIXES = "log.carrier"  # not known yet when causes are weighed

_ATTRIBUTES = {
    "major": "version",
    "minor": "version",
    "micro": "version",
    "stem": "word",
    "version": "version",
    "product": "word",
    "dir": "path",
}
_VERSIONS = ("version", "vtuple", "cudnnint", "cudaint", "ncclint", "cc", "archs")
_PARTED = {  # values.attribute: what the types of facts are made of; a list of architectures is no one version
    "soname": frozenset(_ATTRIBUTES),
    **{kind: frozenset({"major", "minor", "micro"}) for kind in _VERSIONS if kind != "archs"},
}
_NUMBERS = ("int", "float", "size", "bytes")
_ORDERED = ("<", "<=", ">", ">=")
_SUMS = ("+", "-", "*", "/")
_LOOSE = frozenset({"any", "rest", "word", "path", "text"})  # hole types that take any text
_HOLE = re.compile(r"\{([a-z][\w-]*\.[\w.-]+)\}")


def fact_types(book: Rulebook) -> Iterator[Problem]:
    """Every declared fact has a type of the rule language."""
    for name, fact in book.facts.items():
        if fact.type not in HOLES:
            document = next(d for d in book.documents.values() if f"$.facts.{name}" in d.lines)
            yield document.problem(
                f"$.facts.{name}.type", f"unknown type {fact.type!r}; known: {', '.join(sorted(HOLES))}"
            )


def fact_names(book: Rulebook) -> Iterator[Problem]:
    """Holes, conditions, tables, needs and commands use declared facts; ``seen`` names known ids; no signature is for nothing."""
    names_known = _Names(book)
    for signature in book.signatures.values():
        yield from names_known.of_signature(signature.id)
    for library, codes in book.codes.items():
        document = book.documents[f"codes/{library}"]
        for i, code in enumerate(codes.codes):
            for j, pointer in enumerate(code.points_to):
                yield from names_known.weighing(pointer.when, document, f"$.codes[{i}].points_to[{j}].when")
    for cause in book.causes.values():
        yield from names_known.of_cause(cause.id)
    for i, item in enumerate(book.elsewhere):
        yield from names_known.settling(item, book.documents["probes"], f"$.elsewhere[{i}]", False)
    if book.no_gpu:
        yield from names_known.condition(book.no_gpu, book.documents["probes"], "$.no_gpu")
    for probe in book.probes.values():
        document, path = book.place_of_probe(probe.id)
        for i, fact in enumerate(probe.reads):
            if not fact.endswith(".*"):
                yield from names_known.fact(fact, document, f"{path}.reads[{i}]")
    for name, table in book.tables.items():
        document = book.documents[f"compat/{name}"]
        if table.key and table.gives:
            yield from names_known.fact(table.key, document, "$.key")
            for at, name in enumerate(table.otherwise):
                yield from names_known.fact(name, document, f"$.otherwise[{at}]")
        for column, fact in table.gives.items():
            yield from names_known.fact(fact, document, f"$.gives.{column}")
    yield from names_known.idle()


def readable(name: str, book: Rulebook) -> bool:
    """Whether some probe reads a fact, or a table works it out from what one reads."""
    if name.startswith("probe."):
        return name in book.facts
    tables = [((table.key, *table.otherwise), table.gives.values()) for table in book.tables.values()]
    return any(covers(p.reads, source) for source in sources(name, tables) for p in book.probes.values())


def silent(tree: Tree, denied: bool = False) -> set[str]:
    """The local facts whose absence a condition asks for: known() under an odd number of nots."""
    if tree[0] == "known":
        return {tree[1]} if denied and not tree[1].startswith(OF_THE_LOG) else set()
    if tree[0] not in ("and", "or", "not"):
        return set()
    return {name for part in tree[1:] for name in silent(part, denied != (tree[0] == "not"))}


def stems(name: str) -> Iterator[str]:
    """A fact's name, and the names of which it may be an attribute."""
    yield name
    while (parts := name.rpartition("."))[2] in _ATTRIBUTES:
        name = parts[0]
        yield name


def _number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Names:
    """The fact names and ids that rules may use."""

    def __init__(self, book: Rulebook) -> None:
        self.book = book
        self.facts = book.facts.keys() | STRUCTURE_FACTS.keys()
        codes = {code.name for library in book.codes.values() for code in library.codes}
        self.ids = book.signatures.keys() | book.causes.keys() | codes | book.absent
        self.sought: set[str] = set()  # ids that some condition asks for with seen()
        self.telling: set[str] = set()  # signatures that yield facts

    def of_signature(self, name: str) -> Iterator[Problem]:
        """Holes, regex types, ``sets`` and conditions of one signature."""
        signature, document = self.book.signatures[name], self.book.documents[name]
        for i, template in enumerate(signature.templates):
            try:
                parts = parse_template(template)
            except TemplateError:
                continue  # reported when compiling
            for part in parts:
                if isinstance(part, Hole) and part.name:
                    self.telling.add(name)
                    yield from self.fact(part.name, document, f"$.templates[{i}]")
                    declared = self.type_of(part.name)
                    if part.type in _LOOSE and declared in (*_VERSIONS, *_NUMBERS):
                        told = f"{part.name} is a {declared}, and {{:{part.type}}} takes any text: write {{{part.name}:{declared}}}"
                        yield document.problem(f"$.templates[{i}]", told)
        for fact, kind in signature.types.items():
            yield from self.fact(fact, document, f"$.types.{fact}")
            if kind not in HOLES:
                yield document.problem(f"$.types.{fact}", f"unknown type {kind!r}; known: {', '.join(sorted(HOLES))}")
        for fact in signature.sets:
            if "{" not in fact:
                yield from self.fact(fact, document, f"$.sets.{fact}")
        for i, pointer in enumerate(signature.points_to):
            yield from self.weighing(pointer.when, document, f"$.points_to[{i}].when")

    def idle(self) -> Iterator[Problem]:
        """Of what was looked at, the signatures that do nothing: they name no cause, yield no fact, and no condition asks for them."""
        for name, signature in self.book.signatures.items():
            says = signature.points_to or signature.points_as or signature.sets or signature.explains
            if says or name in self.sought or name in self.telling or any("(?P<" in r for r in signature.regex):
                continue
            told = "points to no cause, yields no fact, and no condition asks seen() of it, so it does nothing"
            yield self.book.documents[name].problem("$.points_to", told)

    def of_cause(self, name: str) -> Iterator[Problem]:
        """Conditions, needs and command holes of one cause."""
        cause, document = self.book.causes[name], self.book.documents[name]
        for i, item in enumerate(cause.evidence):
            yield from self.weighing(item.when, document, f"$.evidence[{i}].when")
        for field in ("dead_ends", "references"):
            for i, item in enumerate(getattr(cause, field)):
                yield from self.condition(item.when, document, f"$.{field}[{i}].when")
        for field in ("confirm", "refute"):
            for i, item in enumerate(getattr(cause, field)):
                yield from self.settling(item, document, f"$.{field}[{i}]", field == "confirm")
        for i, fix in enumerate(cause.fixes):
            yield from self.condition(fix.when, document, f"$.fixes[{i}].when")
            yield from self.condition(fix.first, document, f"$.fixes[{i}].first")
            for part in ("title", "why"):
                if found := _HOLE.search(getattr(fix, part)):
                    told = f"{found[0]} is filled in 'commands', 'applies' and 'verify' only, and would be printed as it stands"
                    yield document.problem(f"$.fixes[{i}].{part}", told)
            for fact in fix.needs:
                yield from self.fact(fact, document, f"$.fixes[{i}].needs")
            filled = [
                (f"{part}[{j}]", text) for part in ("commands", "verify") for j, text in enumerate(getattr(fix, part))
            ]
            for part, text in ("applies", fix.applies), *filled:
                for found in _HOLE.finditer(text):
                    yield from self.fact(found[1], document, f"$.fixes[{i}].{part}")

    def settling(self, item: Settling, document: Document, path: str, confirms: bool) -> Iterator[Problem]:
        """A condition of confirm or refute asks for readings that some probe yields, and can hold."""
        try:
            tree = self.book.condition(item.when)
        except ConditionError:
            return  # reported when compiling
        asked, seen = names(tree)
        self.sought |= seen
        yield from self.compared(tree, document, f"{path}.when")
        local = {name for name in asked if not name.startswith(OF_THE_LOG)}
        for name in sorted(asked - local):
            if name not in self.facts:
                yield from self.fact(name.removeprefix(OF_THE_LOG), document, f"{path}.when")
        for name in sorted(local):
            yield from self.fact(name, document, f"{path}.when")
            if not any(readable(stem, self.book) for stem in stems(name)):
                yield document.problem(f"{path}.when", f"no probe of rules/probes.yaml reads {name!r}")
        for name in sorted(seen - self.ids):
            yield document.problem(
                f"{path}.when", f"seen({name}): no such signature, code or cause{nearest(name, sorted(self.ids))}"
            )
        if not local:
            yield document.problem(f"{path}.when", "asks for no reading of a probe, so it settles nothing")
        for name in sorted(silent(tree)):
            yield document.problem(
                f"{path}.when", f"not known({name}) never holds: a reading that is not there is unknown, not absent"
            )
        if item.alone == "true" and not confirms:
            yield document.problem(f"{path}.alone", "only what confirms a cause can stand alone")
        elif item.alone == "true" and (seen or asked - local):
            yield document.problem(f"{path}.alone", "without a log nothing is known of 'log.' facts and seen()")

    def weighing(self, text: str, document: Document, path: str) -> Iterator[Problem]:
        """A condition that speaks for or against a cause asks for nothing that only fixes are told."""
        yield from self.condition(text, document, path)
        if _FOR_FIXES in self.asked(text):
            yield document.problem(
                path, f"{_FOR_FIXES} is told to fixes only: what carried a log's lines decides no cause"
            )

    def asked(self, text: str) -> set[str]:
        """The facts that a condition asks for, also by the names of others; none where it cannot be read."""
        try:
            return names(self.book.condition(text))[0] if text else set()
        except ConditionError:
            return set()  # reported when compiling

    def condition(self, text: str, document: Document, path: str) -> Iterator[Problem]:
        """Every fact and id that a condition asks for is known."""
        if not text:
            return
        try:
            tree = self.book.condition(text)
        except ConditionError:
            return  # reported when compiling
        facts, seen = names(tree)
        self.sought |= seen
        yield from self.compared(tree, document, path)
        for name in sorted(facts):
            yield from self.fact(name, document, path)
        for name in sorted(seen - self.ids):
            yield document.problem(
                path, f"seen({name}): no such signature, code or cause{nearest(name, sorted(self.ids))}"
            )

    def compared(self, tree: Tree, document: Document, path: str) -> Iterator[Problem]:
        """Both sides of a comparison are of one kind, and order is asked only of what has one."""
        if tree[0] in ("and", "or", "not"):
            for part in tree[1:]:
                yield from self.compared(part, document, path)
        if tree[0] == "in":
            for option in tree[2]:
                yield from self._pair("==", tree[1], ["literal", option], document, path)
        elif tree[0] in (*_ORDERED, "==", "!="):
            yield from self._pair(tree[0], tree[1], tree[2], document, path)
            yield from self._pair(tree[0], tree[2], tree[1], document, path)

    def _pair(self, sign: str, one: Tree, other: Tree, document: Document, path: str) -> Iterator[Problem]:
        kind = self.kind(one)
        if one[0] in _SUMS:
            for part in one[1:]:
                if self.kind(part) in ("version", "text"):
                    yield document.problem(path, f"{part[1]} is no number, so nothing can be worked out from it")
        if one[0] != "fact" or not kind:
            return
        if kind == "text":
            if sign in _ORDERED:
                yield document.problem(path, f"{one[1]} is text and has no order; compare it with ==, !=, in or ~")
            return
        said = f"{one[1]} is a {self.type_of(one[1])}"
        if other[0] == "literal":
            fits = version(str(other[1])) is not None if kind == "version" else _number(str(other[1]))
            if not fits:
                yield document.problem(path, f"{said} and never compares with {other[1]!r}")
        elif self.kind(other) == "text":
            yield document.problem(path, f"{said} and never compares with {other[1]}, which is text")

    def kind(self, tree: Tree) -> str:
        """'version', 'number' or 'text' for an operand; empty where that is not known."""
        if tree[0] in _SUMS:
            return "number"
        declared = self.type_of(tree[1]) if tree[0] == "fact" else ""
        if not declared:
            return ""
        return "version" if declared in _VERSIONS else "number" if declared in _NUMBERS else "text"

    def type_of(self, name: str) -> str:
        """The declared type of a fact or of its attribute; empty where it is not declared."""
        name = name.removeprefix(OF_THE_LOG) if name not in self.facts else name
        if name in STRUCTURE_FACTS:
            return STRUCTURE_FACTS[name]
        if name in self.book.facts:
            return self.book.facts[name].type
        return _ATTRIBUTES.get(name.rpartition(".")[2], "")

    def fact(self, name: str, document: Document, path: str) -> Iterator[Problem]:
        """``name`` is declared, or an attribute that values of a declared fact have."""
        stem, attribute = name, ""
        while stem not in self.facts:
            stem, _, attribute = stem.rpartition(".")
            if not stem or attribute not in _ATTRIBUTES:
                yield document.problem(
                    path, f"fact {name!r} is not declared in rules/facts/{nearest(name, sorted(self.facts))}"
                )
                return
        declared = self.type_of(stem)
        if attribute and attribute not in _PARTED.get(declared, ()):
            yield document.problem(
                path, f"{stem} is of type {declared} and has no .{attribute}, so this is never known"
            )
