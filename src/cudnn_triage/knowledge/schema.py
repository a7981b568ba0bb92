"""The shape of rule files, as types; reading a file into them gives errors that name file, line and field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, field

from ..near import nearest
from .yamlfile import Document, Problems

DATE_PATTERN = r"^20\d\d-[01]\d-[0-3]\d$"
ID_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
Text = Annotated[str, Meta(min_length=1)]
Date = Annotated[str, Meta(pattern=DATE_PATTERN)]
Id = Annotated[str, Meta(pattern=ID_PATTERN)]
Strength = Literal["certain", "strong", "likely", "possible", "weak"]
Flag = Literal["true", "false"]
Realm = Literal["hardware", "firmware", "driver", "program", "settings", "environment", "information"]


class _Strict(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    pass


class Pointer(_Strict, kw_only=True, frozen=True):
    """How strongly a message speaks for or against one cause, and under which condition on facts."""

    cause: Id
    strength: Strength | None = None
    odds: str = ""
    against: Strength | None = None
    when: str = ""
    why: str = ""


class Signature(_Strict, kw_only=True, frozen=True):
    """rules/signatures/AREA/ID.yaml."""

    id: Id
    title: Text
    templates: list[Text] = field(default_factory=list)
    regex: list[Text] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    points_to: list[Pointer] = field(default_factory=list)
    points_as: Id | None = None
    symptom_of: list[str] = field(default_factory=list)
    explains: list[str] = field(default_factory=list)
    sets: dict[str, str] = field(default_factory=dict)
    unless: list[Text] = field(default_factory=list)
    at: Literal["anywhere", "line", "start"] = "anywhere"
    inside: Literal["program", "source", "any", "unexplained"] = field(default="program", name="in")
    survived: Flag = "false"
    catch_all: Flag = "false"
    of_field: Flag = "false"
    releases: str = ""
    examples: list[Text] = field(default_factory=list)
    near_misses: list[Text] = field(default_factory=list)
    source: Text
    read: Date


class Evidence(_Strict, kw_only=True, frozen=True):
    """A condition on facts that speaks for or against the cause in whose file it stands."""

    when: Text
    strength: Strength | None = None
    against: Strength | None = None
    why: Text


class Settling(_Strict, kw_only=True, frozen=True):
    """A condition on readings of a machine that confirms or refutes the cause in whose file it stands.

    ``alone``: it is a fault even when no log complains, so ``cudnn-triage probe`` reports it.
    """

    when: Text
    why: Text
    alone: Flag = "false"


class Fix(_Strict, kw_only=True, frozen=True):
    """One way to cure a cause. ``id``: by this name others ``use`` it, with what they write beside that in place of its own."""

    title: Text
    safety: Literal["inspect", "reversible", "destructive"]
    when: str = ""
    first: str = ""
    applies: str = ""
    commands: list[Text] = field(default_factory=list)
    needs: list[str] = field(default_factory=list)
    solve: str = ""
    another: Flag = "false"
    keep: dict[str, str] = field(default_factory=dict)
    verify: list[Text]
    why: Text
    source: Text
    read: Date
    id: Id = ""
    use: Id = ""


class DeadEnd(_Strict, kw_only=True, frozen=True):
    """What people try that does not help, and why; with a condition, for logs of which it holds."""

    tried: Text
    why: Text
    when: str = ""
    source: str = ""
    read: str = ""


class Reference(_Strict, kw_only=True, frozen=True):
    """A page worth reading; with a condition, for logs of which it holds."""

    title: Text
    url: Text
    when: str = ""
    read: Date


class Cause(_Strict, kw_only=True, frozen=True):
    """rules/causes/FAMILY/ID.yaml."""

    id: Id
    title: Text
    family: Id
    severity: Literal["fatal", "degraded", "benign"]
    explanation: Text
    tells_apart: str = ""
    neighbours: list[Id] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    confirm: list[Settling] = field(default_factory=list)
    refute: list[Settling] = field(default_factory=list)
    fixes: list[Fix] = field(default_factory=list)
    dead_ends: list[DeadEnd] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    source: str = ""
    read: str = ""


class Code(_Strict, kw_only=True, frozen=True):
    """One status code, error number or Xid."""

    name: Text
    number: str = ""
    numbers: dict[str, str] = field(default_factory=dict)
    also: list[Text] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    meaning: Text
    kind: list[Realm] = field(default_factory=list)
    action: str = ""
    releases: str = ""
    points_to: list[Pointer] = field(default_factory=list)
    symptom_of: list[str] = field(default_factory=list)
    survived: Flag = "false"
    source: str = ""
    read: str = ""


class Codes(_Strict, kw_only=True, frozen=True):
    """rules/codes/LIBRARY.yaml."""

    library: Id
    title: Text
    prefix: str = ""
    called: list[Text] = field(default_factory=list)
    calls: list[Text] = field(default_factory=list)
    numbered: list[Text] = field(default_factory=list)
    worded: list[Text] = field(default_factory=list)
    unless: list[Text] = field(default_factory=list)
    source: Text
    read: Date
    codes: list[Code]


class Condition(_Strict, kw_only=True, frozen=True):
    """One condition that others name by ``holds(NAME)``."""

    when: Text
    means: Text


class Conditions(_Strict, kw_only=True, frozen=True):
    """rules/conditions.yaml: what many rules ask, said once; each may name those above it."""

    conditions: dict[Id, Condition]


class Calls(_Strict, kw_only=True, frozen=True):
    """rules/calls.yaml: how programs print the number that a function returned; CALL and NUMBER stand for the two."""

    shapes: list[Text]
    source: Text
    read: Date


class Table(_Strict, kw_only=True, frozen=True):
    """rules/compat/TABLE.yaml. Rows are maps from column to text; columns 'key', 'source' and 'read' are known to all."""

    table: Id
    title: Text
    key: str = ""
    otherwise: list[str] = field(default_factory=list)
    match: Literal["exact", "minor", "major", "range", "contains", "module"] = "exact"
    gives: dict[str, str] = field(default_factory=dict)
    source: str = ""
    read: str = ""
    rows: list[dict[str, Any]]


class Companions(_Strict, kw_only=True, frozen=True):
    """Packages that go with a framework, and the table that pairs their releases with it."""

    table: Id
    packages: list[Text]


class Also(_Strict, kw_only=True, frozen=True):
    """A requirement that some releases need beside them: on all GPUs, or unless every GPU is known to be newer."""

    releases: str = ""
    gpus_below: str = ""
    requirement: Text
    source: Text
    read: Date


class Way(_Strict, kw_only=True, frozen=True):
    """The commands that install a build: for which releases, systems and managers; the first way that fits counts."""

    releases: str = ""
    systems: list[Text] = field(default_factory=list)
    managers: list[Text] = field(default_factory=list)
    default: Flag = "false"
    commands: list[Text]


class Variant(_Strict, kw_only=True, frozen=True):
    """A family of builds of a framework: the package whose wheels they are, the table that knows their
    CUDA, cuDNN and architectures (or ``fixed``, where all have the same), how to install one."""

    package: Text
    table: str = ""
    fixed: dict[str, str] = field(default_factory=dict)
    releases: str = ""
    systems: list[Text]
    compiles: Flag = "false"
    companions: Companions | None = None
    also: list[Also] = field(default_factory=list)
    ways: list[Way]
    source: Text
    read: Date


class Recipe(_Strict, kw_only=True, frozen=True):
    """rules/solving/FRAMEWORK.yaml."""

    framework: Id
    title: Text
    aliases: list[Text] = field(default_factory=list)
    installed: list[Text]
    verify: list[Text]
    variants: list[Variant]


class Hunches(_Strict, kw_only=True, frozen=True):
    """rules/hunches.yaml: what each cause has by itself (``base``), and for each word how rare it is (the logarithm of logs by
    logs that have it), then 'NUMBER:WEIGHT' for the causes that it speaks for or against, counted from 0."""

    why: str = ""
    source: Text
    read: Date
    causes: list[Id]
    base: list[Text]
    words: list[tuple[Text, Text]]


class FactType(_Strict, kw_only=True, frozen=True):
    """One fact name: its type, what it is, the command that reads it on a machine.

    ``many``: a machine may have several values of it, from several probes. ``premise``: it says (yes or no) whether the thing
    is there at all that a condition goes on to ask about. ``usual``: what stands in commands where nobody told it.
    """

    type: Text
    title: Text
    ask: str = ""
    many: Flag = "false"
    premise: Flag = "false"
    usual: str = ""


class FactArea(_Strict, kw_only=True, frozen=True):
    """rules/facts/AREA.yaml."""

    area: Id
    facts: dict[str, FactType] = field(default_factory=dict)
    field_words: list[Text] = field(default_factory=list)
    field_names: list[Text] = field(default_factory=list)
    error_words: list[Text] = field(default_factory=list)


class Probe(_Strict, kw_only=True, frozen=True):
    """One probe: the script of that name, what it reads and what it may cost."""

    id: Id
    title: Text
    cost: Annotated[str, Meta(pattern=r"^[1-9]$")]  # cheapest first; those of one cost run side by side
    seconds: Annotated[str, Meta(pattern=r"^[1-9]\d{0,2}$")]  # until it is stopped
    examines: Literal["machine", "interpreter"]
    touches_gpu: Flag = "false"  # only one of these runs at a time
    gpu_memory: str = ""  # the most it may take on a GPU
    memory: str = "6GiB"  # the most main memory that it and its children may take
    reads: list[Text]  # fact names; 'package.*' stands for all that begin so
    codes: list[Id] = field(default_factory=list)  # libraries of rules/codes whose names the script is given
    parts: list[Id] = field(default_factory=list)  # other files of scripts/ that stand before this one
    needs: list[Literal["pynvml"]] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)


class Probes(_Strict, kw_only=True, frozen=True):
    """rules/probes.yaml. ``elsewhere``: conditions under which the log is from another machine or environment than the
    readings. ``no_gpu``: a condition on readings under which probes that touch the GPU may run side by side. ``cure_first``:
    families of causes, in the order in which they have to be cured. ``settings`` go to every probe.
    """

    probes: list[Probe]
    elsewhere: list[Settling] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    no_gpu: str = ""
    cure_first: list[Id] = field(default_factory=list)


T = TypeVar("T")


def convert(document: Document, shape: type[T]) -> T:
    """Read ``document`` as ``shape``. Raises Problems: each field that is wrong, with its line and what was expected there."""
    try:
        return msgspec.convert(document.data, shape)
    except msgspec.ValidationError as error:
        found = [*_mistakes(document.data, shape, "$")] or [("$", str(error))]
        raise Problems([document.problem(*wrong) for wrong in found]) from None


ID_WORDS = "expected lower-case letters and digits in words with hyphens, such as cudnn-not-found"
_WORDS = {
    f"Expected `str` matching regex {DATE_PATTERN!r}": "expected a date such as 2026-11-20",
    f"Expected `str` matching regex {ID_PATTERN!r}": ID_WORDS,
    "Expected `str` of length >= 1": "expected a text, got nothing",
}
_KINDS = {"array": "a list", "object": "a map", "str": "a text", "null": "nothing"}


def _mistakes(value: Any, kind: Any, path: str) -> Iterator[tuple[str, str]]:
    """(path, what is wrong) of all that keeps plain data from being of a type; msgspec itself tells the first only."""
    arguments = get_args(kind)
    if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield from _mistakes_of_fields(value, kind, path)
    elif isinstance(value, dict) and get_origin(kind) is dict:
        key_kind, value_kind = arguments
        for key, held in value.items():
            yield from _mistakes(key, key_kind, f"{path}.{key}")
            yield from _mistakes(held, value_kind, f"{path}.{key}")
    elif isinstance(value, list) and get_origin(kind) is list:
        for i, held in enumerate(value):
            yield from _mistakes(held, arguments[0], f"{path}[{i}]")
    elif isinstance(value, list) and get_origin(kind) is tuple and len(value) == len(arguments):
        for i, (held, one) in enumerate(zip(value, arguments, strict=True)):
            yield from _mistakes(held, one, f"{path}[{i}]")
    else:
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            yield path, _in_words(str(error), value, arguments)


def _mistakes_of_fields(value: dict[str, Any], kind: type[msgspec.Struct], path: str) -> Iterator[tuple[str, str]]:
    kinds = get_type_hints(kind, include_extras=True)
    known = {one.encode_name: one for one in msgspec.structs.fields(kind)}
    for name in value:
        if name not in known:
            yield f"{path}.{name}", f"unknown field{nearest(name, known)}; known: {', '.join(known)}"
    for name, one in known.items():
        if name in value:
            yield from _mistakes(value[name], kinds[one.name], f"{path}.{name}")
        elif one.required:
            yield path, f"missing required field `{name}`"


def _in_words(message: str, value: Any, arguments: tuple[Any, ...]) -> str:
    """What msgspec says of a value that is of a wrong type, as a person who writes rules would say it."""
    if message.startswith("Invalid enum value"):
        allowed = sorted(word for one in arguments for word in get_args(one) or [one] if isinstance(word, str))
        return f"{value!r}: expected one of {', '.join(allowed)}{nearest(value, allowed)}"
    got = f", got {value!r}" if message in _WORDS and value else ""
    told = re.sub(r"`(array|object|str|null)( \| null)?`", lambda found: _KINDS[found[1]], _WORDS.get(message, message))
    return told[0].lower() + told[1:] + got
