"""A folder of rules, read and checked file by file: the typed rulebook that compiling and linting work on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ..near import nearest
from ..values import squeeze
from . import schema
from .cache import digest
from .condition_language import HOLDS, UNREADABLE, ConditionError, Tree, named, parse
from .yamlfile import Document, Problem, Problems, load

OUTCOMES = {
    "ended": ("word", "how this probe ended (ok, skipped, failed, crashed, timed-out):"),
    "crashed": ("word", "signal or error that ended this probe:"),
    "stage": ("any", "what this probe was doing when it was ended:"),
}
"""The facts that the running of a probe yields by itself, as probe.ID.NAME."""


@dataclass
class Rulebook:
    """Every rule of one or more folders, with the document each came from, and the problems met while reading."""

    signatures: dict[str, schema.Signature] = field(default_factory=dict)
    causes: dict[str, schema.Cause] = field(default_factory=dict)
    # fixes that have an id, by it: their folder, and what is written of them
    shared: dict[str, tuple[Path, dict[str, Any]]] = field(default_factory=dict)
    codes: dict[str, schema.Codes] = field(default_factory=dict)
    tables: dict[str, schema.Table] = field(default_factory=dict)
    recipes: dict[str, schema.Recipe] = field(default_factory=dict)
    facts: dict[str, schema.FactType] = field(default_factory=dict)
    conditions: dict[str, Tree] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    probes: dict[str, schema.Probe] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    elsewhere: list[schema.Settling] = field(default_factory=list)
    no_gpu: str = ""
    cure_first: list[str] = field(default_factory=list)
    field_words: list[str] = field(default_factory=list)
    field_names: list[str] = field(default_factory=list)
    error_words: list[str] = field(default_factory=list)
    weights: dict[str, float] = field(default_factory=dict)
    hunches: schema.Hunches | None = None
    shapes: list[str] = field(default_factory=list)
    documents: dict[str, Document] = field(default_factory=dict)
    homes: dict[str, Path] = field(default_factory=dict)  # by the same names as ``documents``: the folder of rules
    problems: list[Problem] = field(default_factory=list)
    disabled: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    digest: str = ""

    @cached_property
    def texts_of_codes(self) -> set[str]:
        """What libraries say of their codes, in the form in which texts are compared. Asked when all rules are read."""
        return {squeeze(text) for library in self.codes.values() for code in library.codes for text in code.texts}

    @property
    def files(self) -> list[Document]:
        """Every document, each once."""
        return list({id(document): document for document in self.documents.values()}.values())

    @property
    def absent(self) -> set[str]:
        """Ids that others may name although no rule has them: of disabled rules, and of files with a mistake, told once."""
        return self.disabled | self.unread

    def unknown_cause(self, name: str) -> str:
        """What is wrong with a rule that names the cause ``name``, for a problem; empty where there is, or was, such a cause."""
        known = name in self.causes or name in self.absent
        return "" if known else f"no cause {name!r} in rules/causes{nearest(name, self.causes)}"

    def condition(self, text: str) -> Tree:
        """A condition as it is evaluated: read, with the named ones it refers to in their places. Raises ConditionError."""
        return named(parse(text), self.conditions)

    def shown(self, text: str) -> str:
        """A condition as a reader is told of it: named ones by what they mean."""
        return HOLDS.sub(lambda found: f"({self.meanings.get(found[1], found[1])})", " ".join(text.split()))

    def place_of_probe(self, name: str) -> tuple[Document, str]:
        """The document in which a probe stands, and its path there."""
        document = self.documents[f"probes/{name}"]
        ids = [probe["id"] for probe in document.data["probes"]]
        return document, f"$.probes[{ids.index(name)}]"


def read(folders: Iterable[Path]) -> Rulebook:
    """Read rule folders, later ones overriding earlier ones by id. Problems are collected, not raised."""
    folders = list(dict.fromkeys(folders))
    book = Rulebook(digest=digest(folders))
    for folder in folders:
        documents: dict[Path, Document] = {}
        files = sorted(folder.rglob("*.y*ml"))
        if not files:
            book.problems.append(Problem(str(folder), 0, "", "no rules (*.yaml) in this folder"))
        for path in files:
            with _problems_of(path, book):
                documents[path] = _load(path, folder)
        for path, document in documents.items():  # before any cause is read: it may use a fix of a later one
            if _kind(path, folder) == "causes":
                _name_fixes(document, folder, book)
        for path, document in documents.items():
            with _problems_of(path, book):
                _read_file(path, document, folder, book)
    return book


@contextmanager
def _problems_of(path: Path, book: Rulebook) -> Iterator[None]:
    """Collect what is raised of one file, which then counts as not read."""
    try:
        yield
    except Problem as problem:
        book.problems.append(problem)
        book.unread.add(path.stem)
    except Problems as several:
        book.problems += several.found
        book.unread.add(path.stem)


def _kind(path: Path, folder: Path) -> str:
    return path.relative_to(folder).parts[0]


def _load(path: Path, folder: Path) -> Document:
    shown = _from_here(path)
    if path.suffix != ".yaml":
        raise Problem(shown, 0, "", "rule files end in .yaml")
    if _kind(path, folder) not in {*_BY_ID, *_OTHERS}:
        folders = [name for name in (*_BY_ID, *_OTHERS) if not name.endswith(".yaml")]
        files = [name for name in _OTHERS if name.endswith(".yaml")]
        told = f"rule files live in {', '.join(f'{name}/' for name in folders)}; beside them {', '.join(files)}"
        raise Problem(shown, 0, "", told)
    return load(path, shown)


def _name_fixes(document: Document, folder: Path, book: Rulebook) -> None:
    """Keep the fixes that have an id where ``use`` finds them, even when a later folder has another cause of that name."""
    for i, fix in _fixes(document.data):
        if name := str(fix.get("id", "")):  # what is no text is told when the cause is read
            if book.shared.get(name, (None,))[0] == folder:
                book.problems.append(document.problem(f"$.fixes[{i}].id", f"another fix is called {name!r} already"))
            book.shared[name] = folder, {key: value for key, value in fix.items() if key != "id"}


def _with_used_fixes(document: Document, book: Rulebook) -> Document:
    """A cause as if it had written out each fix that it uses. Raises Problem where there is no such fix."""
    if not any("use" in fix for _, fix in _fixes(document.data)):
        return document
    fixes = list(document.data["fixes"])
    for i, fix in _fixes(document.data):
        if (name := fix.get("use")) is None:
            continue
        name = str(name)
        if "id" in fix:
            raise document.problem(f"$.fixes[{i}].id", "a fix that is used has a name already")
        if name not in book.shared:
            raise document.problem(f"$.fixes[{i}].use", f"no fix has the id {name!r}{nearest(name, book.shared)}")
        fixes[i] = book.shared[name][1] | fix
    return replace(document, data=document.data | {"fixes": fixes})


def _fixes(data: Any) -> list[tuple[int, dict[str, Any]]]:
    """The fixes of a cause that nobody has checked yet, with their places."""
    fixes = data.get("fixes") if isinstance(data, dict) else None
    return [(i, fix) for i, fix in enumerate(fixes) if isinstance(fix, dict)] if isinstance(fixes, list) else []


def _read_file(path: Path, document: Document, folder: Path, book: Rulebook) -> None:
    kind = _kind(path, folder)
    if kind in _OTHERS:
        _OTHERS[kind](document, book)
        return
    shape, into, key, space = _BY_ID[kind]
    rule = schema.convert(_with_used_fixes(document, book) if shape is schema.Cause else document, shape)
    name = getattr(rule, key)
    if name != path.stem:
        book.problems.append(document.problem(f"$.{key}", f"must be the name of the file, {path.stem!r}"))
    if book.homes.get(space + name) == folder:
        raise document.problem(f"$.{key}", f"{name!r} stands in {book.documents[space + name].file} already")
    getattr(book, into)[name] = rule
    book.documents[space + name] = document
    book.homes[space + name] = folder
    if isinstance(rule, schema.Cause) and rule.family != path.parent.name:
        raise document.problem("$.family", f"must be the name of the folder, {path.parent.name!r}")


def _from_here(path: Path) -> str:
    """A file as messages name it: by its path from the working folder where it lies below, else as its folder was named."""
    here = Path.cwd()
    return (path.relative_to(here) if path.is_relative_to(here) else path).as_posix()


def _read_facts(document: Document, book: Rulebook) -> None:
    area = schema.convert(document, schema.FactArea)
    for name, fact in area.facts.items():
        if name in book.facts and book.facts[name].type != fact.type:
            raise document.problem(f"$.facts.{name}", f"already declared with type {book.facts[name].type!r}")
        book.facts[name] = fact
    book.field_words += area.field_words
    book.field_names += area.field_names
    book.error_words += area.error_words
    book.documents[document.file] = document


def _read_disabled(document: Document, book: Rulebook) -> None:
    """Take out the signatures and causes that a folder's disabled.yaml lists."""
    if not isinstance(document.data, list):
        raise document.problem("$", "expected a list of ids")
    for i, name in enumerate(document.data):
        if book.signatures.pop(name, None) is None and book.causes.pop(name, None) is None:
            raise document.problem(f"$[{i}]", f"no signature or cause {name!r} to disable")
        book.disabled.add(name)


def _read_conditions(document: Document, book: Rulebook) -> None:
    for name, condition in schema.convert(document, schema.Conditions).conditions.items():
        try:
            book.conditions[name] = book.condition(condition.when)
        except ConditionError as error:
            book.problems.append(document.problem(f"$.conditions.{name}.when", str(error)))
            book.conditions[name] = UNREADABLE
            book.unread.add(name)
        book.meanings[name] = condition.means
        book.documents[f"conditions/{name}"] = document


def _read_calls(document: Document, book: Rulebook) -> None:
    calls = schema.convert(document, schema.Calls)
    for i, shape in enumerate(calls.shapes):
        if shape.count("CALL") != 1 or shape.count("NUMBER") != 1:
            raise document.problem(
                f"$.shapes[{i}]", "expected CALL and NUMBER once each: where a function's name and its number stand"
            )
    book.shapes = calls.shapes
    book.documents["calls"] = document


def _read_hunches(document: Document, book: Rulebook) -> None:
    book.hunches = schema.convert(document, schema.Hunches)
    book.documents["hunches"] = document


def _read_probes(document: Document, book: Rulebook) -> None:
    probes = schema.convert(document, schema.Probes)
    ids = [probe.id for probe in probes.probes]
    for i, probe in enumerate(probes.probes):
        if probe.id in ids[:i]:
            raise document.problem(f"$.probes[{i}].id", f"{probe.id!r} stands above already")
        book.probes[probe.id] = probe
        book.documents[f"probes/{probe.id}"] = document
        for name, (kind, title) in OUTCOMES.items():
            fact = f"probe.{probe.id}.{name}"
            book.facts[fact] = schema.FactType(type=kind, title=f"{title} {probe.id}")
    book.settings.update(probes.settings)
    book.documents["probes"] = document
    book.elsewhere = probes.elsewhere or book.elsewhere
    book.no_gpu = probes.no_gpu or book.no_gpu
    book.cure_first = probes.cure_first or book.cure_first


def _read_weights(document: Document, book: Rulebook) -> None:
    if not isinstance(document.data, dict):
        raise document.problem("$", "expected a map from name to number")
    for name, text in document.data.items():
        try:
            book.weights[name] = float(text)
        except (TypeError, ValueError):
            raise document.problem(f"$.{name}", f"expected a number, got {text!r}") from None
        book.documents[f"weights/{name}"] = document


_BY_ID: dict[str, tuple[type[Any], str, str, str]] = {
    "signatures": (schema.Signature, "signatures", "id", ""),
    "causes": (schema.Cause, "causes", "id", ""),
    "codes": (schema.Codes, "codes", "library", "codes/"),
    "compat": (schema.Table, "tables", "table", "compat/"),
    "solving": (schema.Recipe, "recipes", "framework", "solving/"),
}
"""Folders of which each file holds one rule: its shape, where the rulebook keeps it, the field with its id, and what stands
before the id where ids of all kinds are told apart."""

_OTHERS: dict[str, Callable[[Document, Rulebook], None]] = {
    "facts": _read_facts,
    "weights.yaml": _read_weights,
    "conditions.yaml": _read_conditions,
    "calls.yaml": _read_calls,
    "hunches.yaml": _read_hunches,
    "probes.yaml": _read_probes,
    "disabled.yaml": _read_disabled,
}
"""The other places, with what reads a file there."""
