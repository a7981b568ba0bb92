"""The rule linter: each check is a function over the rulebook that yields problems with file, line and what to do."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path

from .cleaning import clean
from .condition_checks import conditions
from .fact_checks import fact_names, fact_types
from .fuzzy import FuzzyMatcher
from .general import GeneralReader
from .grammar import parse
from .knowledge import compiling, rulebook, schema
from .knowledge.base import Knowledge
from .knowledge.rulebook import Rulebook
from .knowledge.templates import Choice, Hole, Part, TemplateError, literals
from .knowledge.templates import parse as parse_template
from .knowledge.yamlfile import Problem
from .lines import Line
from .matching import Matcher, Stream
from .near import nearest
from .probing.bundle import has_script
from .ranking import DEFAULTS
from .reading import read_path, read_text
from .recipe_checks import recipes
from .structure import Role, Structure
from .values import squeeze

_SHORT = 8  # squeezed letters that a template needs, unless it must be a whole line
_LONG = 80  # characters of commands that are not written twice


def lint(folders: list[Path], healthy: Path | None = None, beside: Sequence[Path] = ()) -> list[Problem]:
    """All problems of the rules in these folders; with ``healthy``, templates are run over the logs of that folder too.

    The rules of the folders ``beside`` are there too, as the shipped ones are beside somebody's own: what is new may break
    them, but their own examples are not tried again.
    """
    book = rulebook.read([*beside, *folders])
    data = compiling.compile_rulebook(book)
    problems = list(book.problems)
    for check in (
        ids_and_references,
        reachability,
        one_name_each,
        one_message_one_rule,
        fact_types,
        fact_names,
        conditions,
        templates_distinctive,
        fixes_complete,
        one_fix_once,
        probes_complete,
        recipes,
        nothing_left_to_do,
        evidence_of_truth,
        dates,
    ):
        problems += check(book)
    knowledge = Knowledge(data)
    problems += examples(book, knowledge, _of(folders, book))
    if healthy is not None and healthy.is_dir():
        problems += on_healthy_logs(book, knowledge, healthy)
    return sorted(problems, key=lambda p: (p.file, p.line, p.field, p.message))


def only_examples(folders: list[Path], beside: Sequence[Path] = ()) -> list[Problem]:
    """The problems of examples and near-misses alone (and of files that cannot be read); ``beside`` as in ``lint``."""
    book = rulebook.read([*beside, *folders])
    knowledge = Knowledge(compiling.compile_rulebook(book))
    return [*book.problems, *examples(book, knowledge, _of(folders, book))]


def _of(folders: Container[Path], book: Rulebook) -> list[schema.Signature]:
    """The signatures that stand in these folders."""
    return [signature for signature in book.signatures.values() if book.homes[signature.id] in folders]


def ids_and_references(book: Rulebook) -> Iterator[Problem]:
    """Every id that a rule names exists, and no id means two things."""
    known = _ids(book)
    for name in book.signatures.keys() & book.causes.keys():
        yield book.documents[name].problem(
            "$.id", f"{name!r} is a signature and a cause; choose another id for the signature"
        )
    for signature in book.signatures.values():
        document = book.documents[signature.id]
        for field in ("symptom_of", "explains"):
            for i, name in enumerate(getattr(signature, field)):
                if name not in known:
                    yield document.problem(
                        f"$.{field}[{i}]", f"no signature, code or cause {name!r}{nearest(name, sorted(known))}"
                    )
    for codes in book.codes.values():
        document = book.documents[f"codes/{codes.library}"]
        for i, code in enumerate(codes.codes):
            for j, name in enumerate(code.symptom_of):
                if name not in known:
                    yield document.problem(
                        f"$.codes[{i}].symptom_of[{j}]",
                        f"no signature, code or cause {name!r}{nearest(name, sorted(known))}",
                    )
    for cause in book.causes.values():
        for i, name in enumerate(cause.neighbours):
            if wrong := book.unknown_cause(name):
                yield book.documents[cause.id].problem(f"$.neighbours[{i}]", wrong)


def one_name_each(book: Rulebook) -> Iterator[Problem]:
    """No code stands in two libraries, ``numbered`` names a known library, and weights have known names."""
    homes: dict[str, str] = {}
    for codes in book.codes.values():
        document = book.documents[f"codes/{codes.library}"]
        for i, code in enumerate(codes.codes):
            if homes.setdefault(code.name, codes.library) != codes.library:
                yield document.problem(
                    f"$.codes[{i}].name", f"{code.name!r} stands in rules/codes/{homes[code.name]}.yaml already"
                )
        for field in ("numbered", "worded"):
            for i, template in enumerate(getattr(codes, field)):
                for part in _parts(template):
                    if isinstance(part, Hole) and part.argument and part.argument not in book.codes:
                        yield document.problem(f"$.{field}[{i}]", f"no library {part.argument!r} in rules/codes")
    for name in sorted(book.weights.keys() - DEFAULTS.keys()):
        told = f"no such number; known: {', '.join(DEFAULTS)}"
        yield book.documents[f"weights/{name}"].problem(f"$.{name}", told)


def reachability(book: Rulebook) -> Iterator[Problem]:
    """Every cause is pointed to by some message, or argued for by its own evidence; told once all files can be read."""
    if book.unread:
        return
    reached = {p.cause for s in book.signatures.values() for p in s.points_to if p.strength}
    reached |= {p.cause for c in book.codes.values() for code in c.codes for p in code.points_to if p.strength}
    for cause in book.causes.values():
        if cause.id not in reached and not any(e.strength for e in cause.evidence):
            yield book.documents[cause.id].problem(
                "$.id", "no signature or code points to this cause, so it can never be found"
            )


def templates_distinctive(book: Rulebook) -> Iterator[Problem]:
    """A template has enough text of its own to be told from everyday output."""
    for signature in book.signatures.values():
        for i, template in enumerate(signature.templates):
            try:
                length = sum(map(len, literals(parse_template(template))))
            except TemplateError:
                continue
            if length < _SHORT and signature.at != "line":
                message = f"only {length} letters of literal text; needs {_SHORT}, or 'at: line'"
                yield book.documents[signature.id].problem(f"$.templates[{i}]", message)
        if not signature.templates and not signature.regex:
            yield book.documents[signature.id].problem("$.templates", "needs at least one template (or regex)")


def _parts(template: str) -> tuple[Part, ...]:
    try:
        return parse_template(template)
    except TemplateError:
        return ()  # reported when compiling


def nothing_left_to_do(book: Rulebook) -> Iterator[Problem]:
    """What ``rules new`` leaves for a person to write has been written."""
    for signature in book.signatures.values():
        document = book.documents[signature.id]
        for field in ("title", "source"):
            if getattr(signature, field).startswith("TODO"):
                yield document.problem(f"$.{field}", "still a TODO; write it")
        for i, text in enumerate(signature.near_misses):
            if text.startswith("TODO"):
                yield document.problem(f"$.near_misses[{i}]", "still a TODO; write it")


def one_message_one_rule(book: Rulebook) -> Iterator[Problem]:
    """No two signatures of a folder that point to causes wait for the same message in the same place: of two, one would be
    forgotten when what is known of the message changes. Messages that only yield facts, or stand for any failure, may be shared."""
    homes: dict[tuple[object, ...], str] = {}
    for signature in book.signatures.values():
        document = book.documents[signature.id]
        places = book.homes[signature.id], signature.inside, signature.at, signature.catch_all, tuple(signature.unless)
        for i, template in enumerate(signature.templates if signature.points_to else ()):
            home = homes.setdefault((_shape(template), places), signature.id)
            if home != signature.id and _parts(template):
                told = f"the same message stands in {home!r} already; say there what it points to"
                yield document.problem(f"$.templates[{i}]", told)


def _shape(template: str) -> tuple[object, ...]:
    """What a template matches, whatever its holes are called and however it is spaced."""
    return tuple(
        (part.type, part.argument)
        if isinstance(part, Hole)
        else tuple(map(squeeze, part.texts if isinstance(part, Choice) else (part.text,)))
        for part in _parts(template)
    )


def fixes_complete(book: Rulebook) -> Iterator[Problem]:
    """A fatal cause has a fix with a way to verify it, and says what does not help where people commonly err."""
    for cause in book.causes.values():
        document = book.documents[cause.id]
        if cause.severity == "fatal" and cause.family != "benign" and not cause.fixes:
            yield document.problem("$.fixes", "a fatal cause needs at least one fix")
        for i, fix in enumerate(cause.fixes):
            if not fix.verify:
                yield document.problem(f"$.fixes[{i}].verify", "say how to verify that the fix worked")
            if not fix.commands and fix.safety != "inspect" and not fix.why:
                yield document.problem(f"$.fixes[{i}].commands", "needs a command or a reason")


def one_fix_once(book: Rulebook) -> Iterator[Problem]:
    """No two fixes of a folder have the same long commands: of two, one would be forgotten when something better is known."""
    homes: dict[tuple[object, ...], tuple[str, schema.Fix]] = {}
    for cause in book.causes.values():
        for i, fix in enumerate(cause.fixes):
            if fix.use or sum(map(len, fix.commands)) < _LONG:
                continue
            home, first = homes.setdefault((book.homes[cause.id], *fix.commands), (cause.id, fix))
            if first is not fix:
                told = f"the same commands stand in {home!r}, {first.title!r}: give that fix an `id`, and `use` it here"
                yield book.documents[cause.id].problem(f"$.fixes[{i}].commands", told)


def probes_complete(book: Rulebook) -> Iterator[Problem]:
    """Every probe has its script and parts, and is given codes of libraries that there are."""
    for probe in book.probes.values():
        document, path = book.place_of_probe(probe.id)
        for name in (probe.id, *probe.parts):
            if not has_script(name):
                yield document.problem(path, f"no script {name}.py in src/cudnn_triage/probing/scripts")
        for i, library in enumerate(probe.codes):
            if library not in book.codes:
                yield document.problem(f"{path}.codes[{i}]", f"no library {library!r} in rules/codes")


def evidence_of_truth(book: Rulebook) -> Iterator[Problem]:
    """A table row or a code without a source and date of its own has one from its file."""
    for table in book.tables.values():
        if not (table.source and table.read):
            for i, row in enumerate(table.rows):
                if not (row.get("source") and row.get("read")):
                    yield book.documents[f"compat/{table.table}"].problem(
                        f"$.rows[{i}]", "needs source and read, here or for the whole table"
                    )


def dates(book: Rulebook) -> Iterator[Problem]:
    """Every ``read`` is a day that there is, and not one to come."""
    tomorrow = date.today() + timedelta(days=1)  # somewhere on Earth it may be that already
    for document in book.files:
        for path, text in _reads(document.data, "$"):
            try:
                if date.fromisoformat(text) > tomorrow:
                    yield document.problem(path, f"{text} is to come; write the day on which the source was read")
            except ValueError:
                yield document.problem(path, f"{text}: there is no such day")


def _reads(data: object, path: str) -> Iterator[tuple[str, str]]:
    """The values of all ``read`` within, with their paths."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name == "read" and isinstance(value, str) and value:
                yield f"{path}.read", value
            else:
                yield from _reads(value, f"{path}.{name}")
    elif isinstance(data, list):
        for at, value in enumerate(data):
            yield from _reads(value, f"{path}[{at}]")


def examples(book: Rulebook, knowledge: Knowledge, among: Iterable[schema.Signature]) -> Iterator[Problem]:
    """Every example of the signatures ``among`` those of the book matches its own one; no near-miss does, not even by likeness.

    One whose messages cannot be read is told of once, and not again for each example.
    """
    matcher, general, fuzzy = Matcher(knowledge), GeneralReader(knowledge), FuzzyMatcher(knowledge)
    unread = {problem.file for problem in book.problems if problem.field.startswith(("templates[", "regex["))}
    for signature in among:
        document = book.documents[signature.id]
        if not signature.examples:
            yield document.problem("$.examples", "needs at least one example")
        if not signature.near_misses:
            yield document.problem("$.near_misses", "needs at least one near-miss")
        if document.file in unread:
            continue
        find: Callable[[str], set[str]] = partial(
            _matched, matcher, role=Role.SOURCE if signature.inside == "source" else Role.TEXT
        )
        if signature.inside == "unexplained":
            find = partial(_read, general)
        for i, text in enumerate(signature.examples):
            if signature.id not in find(text):
                yield document.problem(f"$.examples[{i}]", f"does not match its own signature: {text[:100]!r}")
                continue
            lines = clean(read_text(text))
            if signature.inside == "program" and signature.id not in _in_log(matcher, lines):
                left = lines[0].text[:100] if lines else ""
                told = f"does not match in a log, where cleaning leaves {left!r}: write the template for that, of {text[:100]!r}"
                yield document.problem(f"$.examples[{i}]", told)
        for i, text in enumerate(signature.near_misses):
            if signature.id in find(text):
                yield document.problem(f"$.near_misses[{i}]", f"matches, but must not: {text[:100]!r}")
            elif signature.inside == "program" and signature.id in _alike(fuzzy, matcher, text):
                told = f"is taken for the message by likeness: {text[:100]!r}; tell them apart by 'unless', or write a regex"
                yield document.problem(f"$.near_misses[{i}]", told)


def on_healthy_logs(book: Rulebook, knowledge: Knowledge, folder: Path) -> Iterator[Problem]:
    """No signature of a fatal cause matches in a log where nothing is wrong."""
    matcher = Matcher(knowledge)
    fatal = {
        s.id
        for s in book.signatures.values()
        if s.survived == "false"
        and any(
            p["supports"]
            and p["strength"] in ("certain", "strong")
            and p["when"] is None
            and knowledge.causes[p["cause"]]["severity"] == "fatal"
            for p in knowledge.by_id[s.id]["points_to"]
        )
    }
    for path in sorted(folder.rglob("*.log")):
        matched = _in_log(matcher, [line for log in read_path(path) for line in clean(log)])
        for name in sorted(matched & fatal):
            yield book.documents[name].problem("$.templates", f"matches in the healthy log {path.name}")


def _read(general: GeneralReader, text: str) -> set[str]:
    return {occurrence.rule for occurrence in general.line(0, [Line(text, 1, 0, 0)])}


def _matched(matcher: Matcher, text: str, role: Role) -> set[str]:
    lines = [Line(line, number, 0, 0) for number, line in enumerate(text.splitlines(), 1)]
    structure = Structure(tuple(role for _ in lines))
    return {occurrence.rule for occurrence in matcher.find(Stream(lines, matcher.knowledge.field_marks), structure)}


def _alike(fuzzy: FuzzyMatcher, matcher: Matcher, text: str) -> set[str]:
    lines = clean(read_text(text))
    stream, structure = Stream(lines, matcher.knowledge.field_marks), parse(lines)
    return {occurrence.rule for occurrence in fuzzy.find(stream, structure, matcher.find(stream, structure))}


def _in_log(matcher: Matcher, lines: list[Line]) -> set[str]:
    return {occurrence.rule for occurrence in matcher.find(Stream(lines, matcher.knowledge.field_marks), parse(lines))}


def _ids(book: Rulebook) -> set[str]:
    codes = {code.name for library in book.codes.values() for code in library.codes}
    return book.signatures.keys() | book.causes.keys() | codes | book.absent
