"""From a rulebook to the plain data that the engine runs on: patterns, anchors, parsed conditions, code tables."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ..light import linear_pattern
from ..values import BEYOND, OF_THE_FIELD, size, squeeze
from . import schema
from .condition_language import UNREADABLE, ConditionError, gate, names
from .patterns import literal_runs, needed_words, reach, width
from .rulebook import Rulebook
from .templates import TemplateError, compile_template
from .yamlfile import Document, Problem

Data = dict[str, Any]
_BEFORE = 400  # characters of a log that are looked at before the literal of a pattern,
_BEFORE_LINES = 2000  # before one that whole lines precede ('lspci -vv' prints 1,500 from a card's name to its link),
_AFTER = 800  # and behind it
_FEW = 40  # words of which one is needed: more are seldom all missing
_FLAGS_OF_GROUP = re.compile(r"(?<!\\)\(\?[a-zA-Z]*-?[a-zA-Z]+:")


def compile_rulebook(book: Rulebook) -> Data:
    """Compile all rules. What cannot be compiled is left out and added to ``book.problems``."""
    rules = [_signature(s, book.documents[s.id], book) for s in book.signatures.values()]
    for library, codes in book.codes.items():
        rules += _codes(codes, book.documents[f"codes/{library}"], book)
    kept = {rule["id"]: rule for rule in rules}
    for signature in book.signatures.values():
        for echo in signature.explains:
            if echo in kept:
                kept[echo]["symptom_of"].append(signature.id)
        if signature.points_as is not None:
            kept[signature.id]["points_to"] += _pointers_of_another(signature, kept, book)
    return {
        "digest": book.digest,
        "rules": list(kept.values()),
        "causes": {cause.id: _cause(cause, book) for cause in book.causes.values()},
        "numbers": {
            library: _numbers(codes, book.documents[f"codes/{library}"], book) for library, codes in book.codes.items()
        },
        "texts": {
            library: {squeeze(t): c.name for c in codes.codes for t in c.texts} for library, codes in book.codes.items()
        },
        "libraries": {
            library: {"title": codes.title, "prefix": codes.prefix, "called": codes.called}
            for library, codes in book.codes.items()
        },
        "tables": [_table(table) for table in book.tables.values()],
        "facts": {
            name: {
                "type": f.type,
                "title": f.title,
                "ask": f.ask,
                "many": f.many == "true",
                "premise": f.premise == "true",
                "usual": f.usual,
            }
            for name, f in book.facts.items()
        },
        "probes": {probe.id: _probe(probe, book) for probe in book.probes.values()},
        "settings": book.settings,
        "elsewhere": _settling(book.elsewhere, book.documents["probes"], "$.elsewhere", book) if book.elsewhere else [],
        "no_gpu": _condition(book.no_gpu, book.documents["probes"], "$.no_gpu", book) if book.no_gpu else None,
        "cure_first": book.cure_first,
        "recipes": {name: msgspec.to_builtins(recipe) for name, recipe in book.recipes.items()},
        "field_words": sorted({w.lower() for w in book.field_words}),
        "field_marks": sorted({squeeze(w) for w in (*book.field_words, *book.field_names) if w == w.strip()}),
        "error_words": sorted({w.lower() for w in book.error_words}),
        "weights": book.weights,
        "hunches": _hunches(book.hunches, book) if book.hunches else None,
    }


def _hunches(hunches: schema.Hunches, book: Rulebook) -> Data:
    """The model of words with its numbers read. A cause that is disabled keeps its place: nothing is said of it."""
    document = book.documents["hunches"]
    for i, cause in enumerate(hunches.causes):
        if wrong := book.unknown_cause(cause):
            book.problems.append(document.problem(f"$.causes[{i}]", wrong))
    if len(hunches.base) != len(hunches.causes):
        told = f"expected {len(hunches.causes)} numbers, one for each cause, got {len(hunches.base)}"
        book.problems.append(document.problem("$.base", told))
    data: Data = {"why": hunches.why, "causes": hunches.causes, "base": [], "words": {}}
    for i, text in enumerate(hunches.base):
        try:
            data["base"].append(float(text))
        except ValueError:
            book.problems.append(document.problem(f"$.base[{i}]", f"expected a number, got {text!r}"))
    for i, (word, text) in enumerate(hunches.words):
        try:
            data["words"][word] = _weights_of_a_word(text, len(hunches.causes))
        except ValueError:
            told = f"expected a number, then NUMBER:WEIGHT for some of the causes, counted from 0; got {text!r}"
            book.problems.append(document.problem(f"$.words[{i}]", told))
    return data


def _weights_of_a_word(text: str, causes: int) -> list[float]:
    """How rare a word is, then numbers of causes, each with the weight of the word for it. Raises ValueError."""
    rare, *weights = text.split()
    row = [float(rare)]
    for weight in weights:
        number, _, value = weight.partition(":")
        if not 0 <= int(number) < causes:
            raise ValueError(weight)
        row += [int(number), float(value)]
    return row


def _pointers_of_another(signature: schema.Signature, kept: dict[str, Data], book: Rulebook) -> list[Data]:
    """What the signature named in ``points_as`` points to: another wording of a message means the same."""
    other = book.signatures.get(signature.points_as or "")
    if other is None or other.points_as is not None:
        problem = f"expected the id of a signature that has no points_as itself, got {signature.points_as!r}"
        book.problems.append(book.documents[signature.id].problem("$.points_as", problem))
        return []
    pointers: list[Data] = kept[other.id]["points_to"]
    return pointers


def _condition(text: str, document: Document, path: str, book: Rulebook) -> list[Any] | None:
    if not text:
        return None
    try:
        return book.condition(text)
    except ConditionError as error:
        book.problems.append(document.problem(path, str(error)))
        return UNREADABLE


def _pointers(pointers: list[schema.Pointer], document: Document, path: str, book: Rulebook) -> list[Data]:
    out: list[Data] = []
    for i, pointer in enumerate(pointers):
        if bool(pointer.strength) == bool(pointer.against):
            book.problems.append(document.problem(f"{path}[{i}]", "needs either 'strength' or 'against'"))
            continue
        if pointer.odds and pointer.against:
            book.problems.append(document.problem(f"{path}[{i}].odds", "goes with 'strength', not with 'against'"))
        if pointer.cause not in book.causes:
            if wrong := book.unknown_cause(pointer.cause):
                book.problems.append(document.problem(f"{path}[{i}].cause", wrong))
            continue
        out.append(
            {
                "cause": pointer.cause,
                "strength": pointer.strength or pointer.against,
                "supports": pointer.against is None,
                "when": _condition(pointer.when, document, f"{path}[{i}].when", book),
                "text": book.shown(pointer.when),
                "why": pointer.why,
                **({"odds": _odds(pointer.odds, document, f"{path}[{i}].odds", book)} if pointer.odds else {}),
            }
        )
    return out


def _odds(text: str, document: Document, path: str, book: Rulebook) -> float:
    try:
        odds = float(text)
    except ValueError:
        odds = 0.0
    if not 0.05 <= odds < 1:
        told = f"expected a number from 0.05 to below 1, how often beside another cause of this strength; got {text!r}"
        book.problems.append(document.problem(path, told))
        return 1.0
    return odds


def _signature(rule: schema.Signature, document: Document, book: Rulebook) -> Data:
    compiled: list[Data] = []
    anchored = rule.inside != "unexplained"
    for i, template in enumerate(rule.templates):
        if anchored:
            found = _compiled(template, rule.at, document, f"$.templates[{i}]", book)
            of_a_code = squeeze(template) in book.texts_of_codes
            compiled += [_everyday(c, template, book) for c in found] if of_a_code else found
        else:
            told = "a signature that is in: unexplained has patterns only; write it under regex"
            book.problems.append(document.problem(f"$.templates[{i}]", told))
    for i, pattern in enumerate(rule.regex):
        compiled += _regex(pattern, rule.types, document, f"$.regex[{i}]", book, anchored=anchored)
    if rule.of_field == "true" and anchored:
        compiled = [_of_the_field(template) for template in compiled]
    elif rule.of_field == "true":
        told = "general signatures are never asked about logs of other fields"
        book.problems.append(document.problem("$.of_field", told))
    return {
        "id": rule.id,
        "title": rule.title,
        "templates": compiled,
        "points_to": _pointers(rule.points_to, document, "$.points_to", book),
        "symptom_of": list(rule.symptom_of),
        "releases": rule.releases,
        "sets": rule.sets,
        "unless": [text.casefold() for text in rule.unless],
        "inside": rule.inside,
        "survived": rule.survived == "true",
        "catch_all": rule.catch_all == "true",
        "code": False,
    }


def _compiled(template: str, at: str, document: Document, path: str, book: Rulebook) -> list[Data]:
    try:
        return [compile_template(template, at)]
    except TemplateError as error:
        book.problems.append(document.problem(path, str(error)))
        return []


def _regex(
    pattern: str, types: dict[str, str], document: Document, path: str, book: Rulebook, *, anchored: bool
) -> list[Data]:
    import re2

    try:
        compiled = linear_pattern(f"(?im){pattern}")
    except re2.error as error:
        said = error.args[0] if error.args else ""
        told = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        book.problems.append(document.problem(path, f"not a valid RE2 pattern: {told}"))
        return []
    if (flags := _FLAGS_OF_GROUP.search(pattern)) is not None:
        told = f"{flags[0]}...): a group with flags of its own, which not every browser knows that shows the site"
        book.problems.append(document.problem(path, f"{told}; patterns ignore case, and [\\s\\S] is any character"))
        return []
    runs = literal_runs(pattern)
    place, literal = max(runs, key=lambda run: len(squeeze(run[1])), default=(0, ""))
    needs = [_asked(run) for _, run in runs if len(found := squeeze(run)) > 1 or not found.isascii()]
    anchor = squeeze(literal)
    if anchored and len(anchor) < 3:
        book.problems.append(
            document.problem(path, "no literal text of three letters or more outside brackets to find it by")
        )
        return []
    names = sorted(compiled.groupindex.items(), key=lambda item: item[1])
    holes: list[tuple[str, str, str]] = [("", "any", "")] * compiled.groups
    for group, index in names:
        name = group.replace("__", ".")
        holes[index - 1] = (name, types.get(name, "any"), "")
    return [
        {
            "re": f"(?im){pattern}",
            "anchor": anchor,
            "literal": literal,
            "before": min(_BEFORE_LINES if r"\n" in pattern[:place] else _BEFORE, width(pattern[:place])),
            "after": min(_AFTER, width(pattern[place:])),
            "holes": holes,
            "parts": [],
            "wants": [*([run] for run in needs if run != anchor), *_alternatives(pattern)],
            "words": [] if anchored else needed_words(pattern),
            "reach": reach(pattern[:place]),
            "tight": False,
            "breaks": pattern.count(r"\n"),
            "text": pattern,
        }
    ]


def _alternatives(pattern: str) -> list[list[str]]:
    """Lists of words, squeezed, of each of which one stands in whatever matches: what a text is asked for before the pattern is."""
    lists = (dict.fromkeys(map(_asked, words)) for words in needed_words(pattern) if 1 < len(words) <= _FEW)
    return [[*words] for words in lists if all(words)]


def _asked(word: str) -> str:
    """What a text is asked for where ``word`` is needed in either case: itself, unless it holds letters whose case nothing folds,
    or blanks that stay."""
    plain = (char.isascii() or (char.lower() == char.upper() and not char.isspace()) for char in word)
    return squeeze(word) if all(plain) else BEYOND


def _codes(codes: schema.Codes, document: Document, book: Rulebook) -> list[Data]:
    rules: list[Data] = []
    for i, code in enumerate(codes.codes):
        path = f"$.codes[{i}]"
        succeeded = code.number == "0"  # its name stands in the checks that failed, and says nothing of why
        others = [name for name in code.also if name.isidentifier()]  # HIP's name for the same error; not 'signal 9'
        templates = [] if succeeded else [name for name in (code.name, *others) if len(name) > 6]
        compiled = [c for t in templates for c in _compiled(_escape(t), "anywhere", document, path, book)]
        for text in (t for t in code.texts if len(t) >= 20 and len(t.split()) >= 3):
            compiled += [_everyday(c, text, book) for c in _compiled(_escape(text), "anywhere", document, path, book)]
        rules.append(_code_rule(code.name, f"{code.name}: {code.meaning}", compiled, code, document, path, book))
    for kind, found in (("numbered", codes.numbered), ("worded", codes.worded)):
        compiled = [c for i, t in enumerate(found) for c in _compiled(t, "anywhere", document, f"$.{kind}[{i}]", book)]
        if kind == "numbered":
            compiled += _calls(codes, book)
        rule = _code_rule(f"{codes.library}-{kind}", codes.title, compiled, None, document, f"$.{kind}", book)
        rules.append(rule)
    for rule, code in zip(rules, codes.codes, strict=False):
        told = {"number": code.number, "numbers": code.numbers, "also": code.also, "kind": code.kind}
        rule.update({"library": codes.library, **told, "action": code.action})
    unless = [text.casefold() for text in codes.unless]
    return [{**rule, "unless": unless} for rule in rules]


def _everyday(template: Data, text: str, book: Rulebook) -> Data:
    """What a library says of a code: in everyday words ('invalid resource handle') it counts alone only in a log of this field."""
    ours = any(word.lower().strip() in text.lower() for word in book.field_words)
    return template if ours else _of_the_field(template)


def _of_the_field(template: Data) -> Data:
    """A template that counts only in a log that uses words or names of this field, or is brief."""
    return {**template, "wants": [*template["wants"], [OF_THE_FIELD]]}


def _calls(codes: schema.Codes, book: Rulebook) -> list[Data]:
    """The templates of the numbers that functions of a library return: each shape for each beginning of their names."""
    return [
        template
        for i, shape in enumerate(book.shapes)
        for name in codes.calls
        for text in [shape.replace("CALL", f"{{:call({name})}}").replace("NUMBER", f"{{:code({codes.library})}}")]
        for template in _compiled(text, "anywhere", book.documents["calls"], f"$.shapes[{i}]", book)
    ]


def _code_rule(
    name: str, title: str, compiled: list[Data], code: schema.Code | None, document: Document, path: str, book: Rulebook
) -> Data:
    return {
        "id": name,
        "title": title,
        "templates": compiled,
        "points_to": _pointers(code.points_to, document, f"{path}.points_to", book) if code else [],
        "symptom_of": list(code.symptom_of) if code else [],
        "releases": code.releases if code else "",
        "sets": {},
        "inside": "program",
        "survived": bool(code and code.survived == "true"),
        "catch_all": True,
        "code": True,
    }


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _numbers(codes: schema.Codes, document: Document, book: Rulebook) -> dict[str, str]:
    out: dict[str, str] = {}
    for i, code in enumerate(codes.codes):
        for number in (*code.numbers.values(), code.number):
            if number and (number == code.number or number not in out):
                try:
                    out[str(int(number, 0))] = code.name
                except ValueError:
                    problem = document.problem(
                        f"$.codes[{i}].number", f"expected a number such as 700 or 0x2bc, got {number!r}"
                    )
                    book.problems.append(problem)
    return out


def _needs_any(tree: list[Any]) -> list[str] | None:
    """The facts (and what they are attributes of) and ids, one of which must be there for a condition to hold.

    None where it may hold without: it denies something.
    """
    if _denies(tree):
        return None
    facts, ids = names(tree)
    parts = (name.split(".") for name in facts)
    stems = {".".join(words[:count]) for words in parts for count in range(1, len(words) + 1)}
    return sorted(stems | ids)


def _denies(tree: Any) -> bool:
    return isinstance(tree, list) and (tree[:1] == ["not"] or any(map(_denies, tree)))


def _cause(cause: schema.Cause, book: Rulebook) -> Data:
    document = book.documents[cause.id]
    fixes: list[Data] = [
        {
            "title": fix.title,
            "safety": fix.safety,
            "when": (when := _condition(fix.when, document, f"$.fixes[{i}].when", book)),
            "gate": gate(when) if when else None,
            "denies": _denies(when),
            "first": _condition(fix.first, document, f"$.fixes[{i}].first", book),
            "applies": fix.applies,
            "commands": fix.commands,
            "needs": fix.needs,
            "solve": fix.solve,
            "another": fix.another == "true",
            "keep": fix.keep,
            "verify": fix.verify,
            "why": fix.why,
            "source": fix.source,
            "read": fix.read,
        }
        for i, fix in enumerate(cause.fixes)
    ]
    evidence: list[Data] = []
    for i, item in enumerate(cause.evidence):
        if bool(item.strength) == bool(item.against):
            book.problems.append(document.problem(f"$.evidence[{i}]", "needs either 'strength' or 'against'"))
            continue
        when = _condition(item.when, document, f"$.evidence[{i}].when", book)
        evidence.append(
            {
                "when": when,
                "needs_any": _needs_any(when) if when else None,
                "strength": item.strength or item.against,
                "supports": item.against is None,
                "why": item.why,
                "text": book.shown(item.when),
            }
        )
    return {
        "title": cause.title,
        "family": cause.family,
        "severity": cause.severity,
        "explanation": " ".join(cause.explanation.split()),
        "tells_apart": " ".join(cause.tells_apart.split()),
        "neighbours": cause.neighbours,
        "evidence": evidence,
        "confirm": _settling(cause.confirm, document, "$.confirm", book),
        "refute": _settling(cause.refute, document, "$.refute", book),
        "fixes": fixes,
        "dead_ends": [
            {
                "tried": d.tried,
                "why": d.why,
                "source": d.source,
                "read": d.read,
                "when": _condition(d.when, document, f"$.dead_ends[{i}].when", book),
            }
            for i, d in enumerate(cause.dead_ends)
        ],
        "references": [
            {
                "title": r.title,
                "url": r.url,
                "read": r.read,
                "when": _condition(r.when, document, f"$.references[{i}].when", book),
            }
            for i, r in enumerate(cause.references)
        ],
    }


def _settling(items: list[schema.Settling], document: Document, path: str, book: Rulebook) -> list[Data]:
    return [
        {
            "when": _condition(item.when, document, f"{path}[{i}].when", book),
            "text": book.shown(item.when),
            "why": item.why,
            "alone": item.alone == "true",
        }
        for i, item in enumerate(items)
    ]


def _probe(probe: schema.Probe, book: Rulebook) -> Data:
    amounts = {"gpu_memory": probe.gpu_memory or "0", "memory": probe.memory}
    sizes = {name: size(text) for name, text in amounts.items()}
    for name, found in sizes.items():
        if found is None:
            document, path = book.place_of_probe(probe.id)
            book.problems.append(
                document.problem(f"{path}.{name}", f"expected a size such as 64MiB, got {amounts[name]!r}")
            )
    return {
        "title": probe.title,
        "cost": int(probe.cost),
        "seconds": int(probe.seconds),
        "examines": probe.examines,
        "touches_gpu": probe.touches_gpu == "true",
        **sizes,
        "reads": probe.reads,
        "codes": probe.codes,
        "parts": probe.parts,
        "needs": probe.needs,
        "settings": probe.settings,
    }


def _table(table: schema.Table) -> Data:
    keys = [table.key, *table.otherwise] if table.key else []
    return {"table": table.table, "keys": keys, "match": table.match, "gives": table.gives, "rows": table.rows}


def problems_text(problems: list[Problem]) -> str:
    """All problems, one a line."""
    return "\n".join(str(problem) for problem in problems)
