"""The rule linter: each mistake is named by file, line and field; and the shipped rules have none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cudnn_triage.cli import main
from cudnn_triage.fact_checks import STRUCTURE_FACTS
from cudnn_triage.knowledge import rulebook
from cudnn_triage.knowledge.base import Knowledge, KnowledgeError, compile_folders
from cudnn_triage.knowledge.rulebook import Rulebook
from cudnn_triage.knowledge.templates import HOLES
from cudnn_triage.knowledge.yamlfile import Problem, load
from cudnn_triage.linting import lint, only_examples

ROOT = Path(__file__).resolve().parents[1]

SIGNATURE = """\
id: frob-old
title: The frob is too old
templates:
  - 'the frob is version {frob.version:version} but cheese needs newer'
points_to:
  - cause: old-frob
    strength: likely
    when: frob.version < 3
  - cause: no-cheese
    against: weak
symptom_of: [no-cheese]
explains: [frob-gone]
examples:
  - 'E frob.c:1] the frob is version 1.2 but cheese needs newer'
near_misses:
  - 'the frob is version 1.2 and all is well'
source: frob.c
read: 2026-11-20
"""
GONE = """\
id: frob-gone
title: There is no frob
templates:
  - 'the frob went away'
points_to:
  - cause: no-cheese
    strength: certain
examples:
  - 'fatal: the frob went away'
near_misses:
  - 'the frob came back'
source: frob.c
read: 2026-11-20
"""
CAUSE = """\
id: old-frob
title: The frob is old
family: library
severity: fatal
explanation: Old frobs do not take cheese.
neighbours: [no-cheese]
evidence:
  - when: frob.version.major < 2 and seen(frob-old)
    strength: weak
    why: it is very old
fixes:
  - title: Buy a new one
    safety: reversible
    when: known(frob.version)
    commands: ['buy frob>{frob.version}']
    verify: ['frob --version']
    why: new ones take cheese
    source: frob.c
    read: 2026-11-20
"""
NO_CHEESE = """\
id: no-cheese
title: There is no cheese
family: library
severity: fatal
explanation: The fridge is empty.
fixes:
  - title: Buy cheese
    safety: reversible
    commands: [buy cheese]
    verify: [ls fridge]
    why: cheese is needed
    source: fridge.c
    read: 2026-11-20
"""
CODES = """\
library: frob
title: frob codes
numbered:
  - 'frob failure {:code(frob)}:'
source: frob.h
read: 2026-11-20
codes:
  - name: FROB_OLD
    number: 3
    meaning: the frob is old
    points_to: [{cause: old-frob, strength: possible}]
    symptom_of: [no-cheese]
"""
TABLE = """\
table: frobs
title: frobs and their cheese
key: frob.version
match: minor
gives: {cheese: cheese.version}
rows:
  - {key: '1.0', cheese: '2.0', source: frob.h, read: 2026-11-20}
  - {key: '1.1', cheese: '2.1', source: frob.h, read: 2026-11-20}
"""
FACTS = """\
area: test
facts:
  frob.version: {type: version, title: frob version}
  cheese.version: {type: version, title: cheese version}
  mould.version: {type: version, title: version of the mould}
  platform.os: {type: word, title: the system}
field_words: [frob]
error_words: [error]
"""
PROBES = """\
probes:
  - id: host
    title: the host
    cost: 1
    seconds: 5
    examines: machine
    reads: [frob.version, platform.os]
elsewhere:
  - when: not log.frob.version == frob.version
    why: another frob
"""
FILES = {
    "signatures/frob/frob-old.yaml": SIGNATURE,
    "signatures/frob/frob-gone.yaml": GONE,
    "causes/library/old-frob.yaml": CAUSE,
    "causes/library/no-cheese.yaml": NO_CHEESE,
    "codes/frob.yaml": CODES,
    "compat/frobs.yaml": TABLE,
    "facts/test.yaml": FACTS,
    "probes.yaml": PROBES,
}
OLD, GONE_FILE, CAUSE_FILE, NO_CHEESE_FILE = list(FILES)[:4]
FIXES = CAUSE[CAUSE.index("fixes:") :]
CODES_FILE, TABLE_FILE, FACTS_FILE, PROBES_FILE = list(FILES)[4:]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small folder of rules in which nothing is wrong, below the working folder."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "rules"
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def change(folder: Path, name: str, old: str, new: str) -> Path:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} must stand once in {name}"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "condition",
    [
        "not known(mould.version)",
        "frob.version < 2 or mould.version < 2",
        "cheese.version.major < 2",
        "seen(frob-old)",
        "failure.kind == exception",
        "not (known(mould.version) and mould.version > 2)",
    ],
)
def test_conditions_that_may_hold_are_no_mistake(folder: Path, condition: str) -> None:
    change(folder, CAUSE_FILE, "when: frob.version.major < 2 and seen(frob-old)", f"when: {condition}")
    assert lint([folder]) == []


def test_fixes_may_ask_for_readings_and_for_platforms_that_are_known(folder: Path) -> None:
    change(folder, CAUSE_FILE, "when: known(frob.version)", "when: known(platform.os) and platform.os == windows")
    assert lint([folder]) == []


@pytest.mark.parametrize(
    ("name", "old", "field"),
    [
        (OLD, "when: frob.version < 3", "points_to[0].when"),
        (CAUSE_FILE, "when: frob.version.major < 2 and seen(frob-old)", "evidence[0].when"),
    ],
)
def test_only_fixes_ask_for_what_carried_the_lines_of_a_log(folder: Path, name: str, old: str, field: str) -> None:
    change(folder, CAUSE_FILE, "when: known(frob.version)", "when: log.carrier == compose")
    assert lint([folder]) == []
    (folder / "conditions.yaml").write_text(
        "conditions:\n  composed: {when: log.carrier == compose, means: in compose}\n"
    )
    change(folder, CAUSE_FILE, "when: log.carrier == compose", "when: holds(composed)")
    assert lint([folder]) == []
    path = folder / name
    text = path.read_text(encoding="utf-8")
    for condition in ("log.carrier == compose", "holds(composed)"):
        path.write_text(text.replace(old, f"when: {condition}"), encoding="utf-8")
        (problem,) = lint([folder])
        assert (problem.file, problem.field) == (f"rules/{name}", field)
        assert "to fixes only" in problem.message


def line_of(path: Path, text: str) -> int:
    """The last line on which ``text`` stands."""
    return max(i for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line)


def test_rules_without_mistakes_have_no_problems(folder: Path) -> None:
    assert lint([folder]) == []


# (file, what stands there, what is put in its place, a text on the line to be named, field, words of the message)
MISTAKES = {
    "duplicate-key": (OLD, "source: frob.c", "source: a\nsource: b", "source: b", "source", "twice"),
    "duplicate-key-deep": (
        OLD,
        "strength: likely",
        "strength: likely\n    strength: weak",
        "strength: weak",
        "points_to[0].strength",
        "twice",
    ),
    "anchor": (OLD, "id: frob-old", "id: &name frob-old", "&name", "", "anchors and aliases are not allowed"),
    "alias": (OLD, "source: frob.c", "source: *name", "*name", "", "anchors and aliases are not allowed"),
    "not-yaml": (OLD, "title: The", "title: [The", "templates:", "", "not valid YAML"),
    "open-quote": (OLD, "read: 2026-11-20", "read: '2026-11-20", "read: '2026", "", "while scanning a quoted scalar"),
    "not-utf8": (OLD, "read: 2026-11-20", "read: \udcff", "", "", "save the file as UTF-8"),
    "list-as-key": (OLD, "explains: [frob-gone]", "? [a, b]\n: c", "? [a, b]", "$", "a key must be a plain word"),
    "unknown-field": (
        OLD,
        "title: The",
        "titel: x\ntitle: The",
        "titel: x",
        "titel",
        "unknown field; nearest: title; known: id, title, templates",
    ),
    "unknown-field-deep": (
        CAUSE_FILE,
        "safety:",
        "verifi: x\n    safety:",
        "verifi: x",
        "fixes[0].verifi",
        "unknown field; nearest: verify; known: title, safety,",
    ),
    "unknown-field-in-a-map": (
        FACTS_FILE,
        "cheese.version: {type: version, ",
        "cheese.version: {type: version, tilte: x, ",
        "tilte",
        "facts.cheese.version.tilte",
        "nearest: title",
    ),
    "day-that-is-not": (OLD, "read: 2026-11-20", "read: 2026-02-30", "read: 2026", "read", "there is no such day"),
    "day-to-come": (OLD, "read: 2026-11-20", "read: 2099-11-20", "read: 2099", "read", "is to come"),
    "day-to-come-deep": (
        TABLE_FILE,
        "2.1', source: frob.h, read: 2026",
        "2.1', source: frob.h, read: 2098",
        "2098",
        "rows[1].read",
        "is to come",
    ),
    "version-against-word": (
        OLD,
        "when: frob.version < 3",
        "when: frob.version == rusty",
        "== rusty",
        "points_to[0].when",
        "frob.version is a version and never compares with 'rusty'",
    ),
    "version-in-words": (
        OLD,
        "when: frob.version < 3",
        "when: frob.version.major in [1, two]",
        "[1, two]",
        "points_to[0].when",
        "frob.version.major is a version and never compares with 'two'",
    ),
    "version-in-a-sum": (
        CAUSE_FILE,
        "when: known(frob.version)",
        "when: frob.version - cheese.version > 1",
        "cheese.version >",
        "fixes[0].when",
        "cheese.version is no number",
    ),
    "evidence-of-readings": (
        CAUSE_FILE,
        "when: frob.version.major < 2 and seen(frob-old)",
        "when: mould.version.major < 2 and seen(frob-old)",
        "mould.version.major",
        "evidence[0].when",
        "can never hold: no message and no table tells mould.version.major, and readings of a machine rank nothing",
    ),
    "pointer-at-readings": (
        OLD,
        "when: frob.version < 3",
        "when: known(mould.version) or mould.version < 3",
        "known(mould.version)",
        "points_to[0].when",
        "can never hold",
    ),
    "fix-for-nobody": (
        CAUSE_FILE,
        "when: known(frob.version)",
        "when: known(mould.version)",
        "known(mould.version)",
        "fixes[0].when",
        "no message, table or probe tells mould.version",
    ),
    "fix-for-a-platform-that-is-not-known": (
        CAUSE_FILE,
        "when: known(frob.version)",
        "when: platform.os == windows",
        "platform.os == windows",
        "fixes[0].when",
        "where no line tells platform.os, this fix is shown to everybody: write platform.os is ..., or not platform.os is",
    ),
    "word-in-an-order": (
        OLD,
        "when: frob.version < 3",
        "when: failure.package > torch",
        "> torch",
        "points_to[0].when",
        "failure.package is text and has no order",
    ),
    "missing-field": (OLD, "source: frob.c\n", "", "id: frob-old", "", "missing required field `source`"),
    "missing-field-deep": (
        CAUSE_FILE,
        "    verify: ['frob --version']\n",
        "",
        "- title: Buy",
        "fixes[0]",
        "missing required field `verify`",
    ),
    "wrong-word": (
        OLD,
        "strength: likely",
        "strength: likeli",
        "strength: likeli",
        "points_to[0].strength",
        "'likeli': expected one of certain, likely, possible, strong, weak; nearest: likely",
    ),
    "wrong-word-of-cause": (CAUSE_FILE, "severity: fatal", "severity: grave", "severity: grave", "severity", "grave"),
    "wrong-shape": (
        OLD,
        "symptom_of: [no-cheese]",
        "symptom_of: x",
        "symptom_of: x",
        "symptom_of",
        "expected a list, got a text",
    ),
    "wrong-date": (
        OLD,
        "read: 2026-11-20",
        "read: today",
        "read: today",
        "read",
        "expected a date such as 2026-11-20, got 'today'",
    ),
    "wrong-id-form": (
        OLD,
        "id: frob-old",
        "id: Frob_Old",
        "id: Frob_Old",
        "id",
        "lower-case letters and digits in words with hyphens",
    ),
    "empty-title": (
        OLD,
        "title: The frob is too old",
        "title: ''",
        "title: ''",
        "title",
        "expected a text, got nothing",
    ),
    "id-not-file-name": (OLD, "id: frob-old", "id: frob-aged", "id: frob-aged", "id", "'frob-old'"),
    "family-not-folder": (CAUSE_FILE, "family: library", "family: driver", "family: driver", "family", "'library'"),
    "unknown-cause": (OLD, "cause: old-frob", "cause: rusty", "cause: rusty", "points_to[0].cause", "no cause 'rusty'"),
    "misspelt-cause": (
        OLD,
        "cause: old-frob",
        "cause: old-forb",
        "cause: old-forb",
        "points_to[0].cause",
        "no cause 'old-forb' in rules/causes; nearest: old-frob",
    ),
    "unknown-cause-of-code": (
        CODES_FILE,
        "cause: old-frob",
        "cause: rusty",
        "cause: rusty",
        "codes[0].points_to[0].cause",
        "no cause 'rusty'",
    ),
    "unknown-symptom": (OLD, "symptom_of: [no-cheese]", "symptom_of: [rust]", "[rust]", "symptom_of[0]", "'rust'"),
    "unknown-symptom-of-code": (
        CODES_FILE,
        "symptom_of: [no-cheese]",
        "symptom_of: [rust]",
        "[rust]",
        "codes[0].symptom_of[0]",
        "'rust'",
    ),
    "unknown-explained": (OLD, "explains: [frob-gone]", "explains: [rust]", "[rust]", "explains[0]", "'rust'"),
    "unknown-pointed-as": (OLD, "explains: [frob-gone]", "points_as: rust", "rust", "points_as", "'rust'"),
    "unknown-neighbour": (CAUSE_FILE, "neighbours: [no-cheese]", "neighbours: [x]", "[x]", "neighbours[0]", "'x'"),
    "unknown-seen": (
        OLD,
        "when: frob.version < 3",
        "when: seen(rust)",
        "seen(rust)",
        "points_to[0].when",
        "no such signature, code or cause",
    ),
    "unknown-seen-of-evidence": (
        CAUSE_FILE,
        "seen(frob-old)",
        "seen(rust)",
        "seen(rust)",
        "evidence[0].when",
        "seen(rust)",
    ),
    "undeclared-fact-in-hole": (
        OLD,
        "templates:",
        "templates:\n  - 'and {frob.age:int} years'",
        "frob.age",
        "templates[0]",
        "'frob.age' is not declared",
    ),
    "undeclared-fact-in-condition": (
        OLD,
        "when: frob.version < 3",
        "when: frob.age < 3",
        "frob.age",
        "points_to[0].when",
        "'frob.age' is not declared",
    ),
    "undeclared-attribute": (
        CAUSE_FILE,
        "frob.version.major < 2",
        "frob.version.mayor < 2",
        "mayor",
        "evidence[0].when",
        "'frob.version.mayor' is not declared",
    ),
    "attribute-that-the-type-lacks": (
        CAUSE_FILE,
        "when: known(frob.version)",
        "when: known(frob.version.stem)",
        "frob.version.stem",
        "fixes[0].when",
        "frob.version is of type version and has no .stem",
    ),
    "undeclared-fact-of-fix": (
        CAUSE_FILE,
        "when: known(frob.version)",
        "when: known(frob.age)",
        "frob.age",
        "fixes[0].when",
        "'frob.age' is not declared",
    ),
    "undeclared-fact-set": (
        OLD,
        "symptom_of:",
        "sets: {frob.age: 3}\nsymptom_of:",
        "sets:",
        "sets.frob.age",
        "'frob.age' is not declared",
    ),
    "strength-and-against": (
        OLD,
        "strength: likely",
        "strength: likely\n    against: weak",
        "cause: old-frob",
        "points_to[0]",
        "either 'strength' or 'against'",
    ),
    "neither-strength-nor-against": (
        OLD,
        "    against: weak\n",
        "",
        "cause: no-cheese",
        "points_to[1]",
        "either 'strength' or 'against'",
    ),
    "evidence-strength-and-against": (
        CAUSE_FILE,
        "strength: weak",
        "strength: weak\n    against: weak",
        "- when: frob.version.major",
        "evidence[0]",
        "either 'strength' or 'against'",
    ),
    "template-broken": (
        OLD,
        "templates:",
        "templates:\n  - 'the frob {oops'",
        "{oops",
        "templates[0]",
        "column 10",
    ),
    "template-unknown-hole": (
        OLD,
        "templates:",
        "templates:\n  - 'the frob is {:colour} again'",
        "colour",
        "templates[0]",
        "unknown hole type 'colour'",
    ),
    "template-holes-touch": (
        OLD,
        "templates:",
        "templates:\n  - 'the frob is {:int}{:version}'",
        "{:int}",
        "templates[0]",
        "two holes need text",
    ),
    "template-too-short": (
        OLD,
        "templates:",
        "templates:\n  - 'cheese {:any}'",
        "cheese {:any}",
        "templates[0]",
        "only 6 letters",
    ),
    "numbered-broken": (
        CODES_FILE,
        "{:code(frob)}",
        "{:code}",
        "{:code}",
        "numbered[0]",
        "a code hole names its library",
    ),
    "condition-broken": (OLD, "frob.version < 3", "frob.version <", "when:", "points_to[0].when", "column"),
    "evidence-condition-broken": (CAUSE_FILE, "and seen(", "und seen(", "und seen", "evidence[0].when", "column"),
    "fix-condition-broken": (CAUSE_FILE, "when: known(", "when: knows(", "knows(", "fixes[0].when", "column"),
    "confirm-broken": (
        CAUSE_FILE,
        "fixes:",
        "confirm: [{when: 'what?', why: x}]\nfixes:",
        "what?",
        "confirm[0].when",
        "column",
    ),
    "confirm-unread": (
        CAUSE_FILE,
        "fixes:",
        "confirm: [{when: known(mould.version), why: x}]\nfixes:",
        "known(mould",
        "confirm[0].when",
        "no probe of rules/probes.yaml reads 'mould.version'",
    ),
    "confirm-undeclared": (
        CAUSE_FILE,
        "fixes:",
        "confirm: [{when: frob.version < log.frob.colour, why: x}]\nfixes:",
        "log.frob.colour",
        "confirm[0].when",
        "fact 'frob.colour' is not declared",
    ),
    "confirm-by-the-log": (
        CAUSE_FILE,
        "fixes:",
        "confirm: [{when: log.frob.version < 2 and seen(frob-old), why: x}]\nfixes:",
        "log.frob.version",
        "confirm[0].when",
        "asks for no reading of a probe, so it settles nothing",
    ),
    "refute-by-silence": (
        CAUSE_FILE,
        "fixes:",
        "refute: [{when: not (known(frob.version) or frob.version > 3), why: x}]\nfixes:",
        "not (known",
        "refute[0].when",
        "not known(frob.version) never holds",
    ),
    "refute-alone": (
        CAUSE_FILE,
        "fixes:",
        "refute: [{when: frob.version > 3, why: x, alone: 'true'}]\nfixes:",
        "alone:",
        "refute[0].alone",
        "only what confirms a cause can stand alone",
    ),
    "alone-with-a-log": (
        CAUSE_FILE,
        "fixes:",
        "confirm: [{when: frob.version > log.frob.version, why: x, alone: 'true'}]\nfixes:",
        "alone:",
        "confirm[0].alone",
        "without a log nothing is known of 'log.' facts",
    ),
    "probe-without-script": (PROBES_FILE, "id: host", "id: hostess", "- id:", "probes[0]", "no script hostess.py"),
    "probe-reads-undeclared": (
        PROBES_FILE,
        "reads: [frob.version, platform.os]",
        "reads: [frob.colour, frob.version]",
        "reads:",
        "probes[0].reads[0]",
        "is not declared",
    ),
    "probe-cost": (PROBES_FILE, "cost: 1", "cost: cheap", "cost:", "probes[0].cost", "^[1-9]$"),
    "probe-memory": (
        PROBES_FILE,
        "seconds: 5",
        "seconds: 5\n    gpu_memory: lots",
        "lots",
        "probes[0].gpu_memory",
        "expected a size such as 64MiB",
    ),
    "elsewhere-unread": (
        PROBES_FILE,
        "not log.frob.version == frob.version",
        "not log.frob.version == mould.version",
        "when:",
        "elsewhere[0].when",
        "no probe of rules/probes.yaml reads",
    ),
    "regex-broken": (
        OLD,
        "points_to:",
        "regex: ['cheese (of [0-9]+ kinds']\npoints_to:",
        "regex:",
        "regex[0]",
        "not a valid RE2 pattern",
    ),
    "regex-with-flags-inside": (
        OLD,
        "points_to:",
        "regex: ['cheese of (?-i:FROB) kinds']\npoints_to:",
        "regex:",
        "regex[0]",
        "a group with flags of its own",
    ),
    "regex-without-text": (
        OLD,
        "points_to:",
        "regex: ['(cheese|milk) [0-9]+']\npoints_to:",
        "regex:",
        "regex[0]",
        "no literal text of three letters",
    ),
    "example-does-not-match": (
        OLD,
        "examples:",
        "examples:\n  - 'the frob is version new but cheese needs newer'",
        "version new",
        "examples[0]",
        "does not match its own signature",
    ),
    "odds-of-nothing": (
        OLD,
        "    strength: likely\n",
        "    strength: likely\n    odds: 3 to 1\n",
        "odds: 3",
        "points_to[0].odds",
        "expected a number from 0.05 to below 1",
    ),
    "any-text-for-a-version": (
        OLD,
        "version {frob.version:version} but",
        "version {frob.version:word} but",
        "frob.version:word",
        "templates[0]",
        "write {frob.version:version}",
    ),
    "near-miss-matches": (
        OLD,
        "near_misses:",
        "near_misses:\n  - '[worker] The frob is version 2.9 but cheese needs newer.'",
        "[worker]",
        "near_misses[0]",
        "matches, but must not",
    ),
    "no-examples": (
        OLD,
        "examples:\n  - 'E frob.c:1] the frob is version 1.2 but cheese needs newer'\n",
        "",
        "id: frob-old",
        "examples",
        "at least one example",
    ),
    "near-miss-matches-by-likeness": (
        OLD,
        "near_misses:",
        "near_misses:\n  - 'E frob.c:1] the frob was version 1.2 but cheese needs newer'",
        "the frob was",
        "near_misses[0]",
        "is taken for the message by likeness",
    ),
    "no-near-misses": (
        OLD,
        "near_misses:\n  - 'the frob is version 1.2 and all is well'\n",
        "near_misses: []\n",
        "near_misses: []",
        "near_misses",
        "at least one near-miss",
    ),
    "fix-without-verify": (
        CAUSE_FILE,
        "verify: ['frob --version']",
        "verify: []",
        "verify: []",
        "fixes[0].verify",
        "how to verify",
    ),
    "table-row-without-source": (
        TABLE_FILE,
        "cheese: '2.1', source: frob.h, read",
        "cheese: '2.1', read",
        "'2.1'",
        "rows[1]",
        "needs source and read",
    ),
    "fact-twice-with-another-type": (
        FACTS_FILE,
        "field_words",
        "  frob.version: {type: int, title: t}\nfield_words",
        "type: int",
        "facts.frob.version",
        "twice",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_by_file_line_and_field(folder: Path, name: str) -> None:
    file, old, new, on_line, field, told = MISTAKES[name]
    path = folder / file
    if "\udcff" in new:
        text = FILES[file].replace(old, new)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        line = text[: text.index("\udcff")].count("\n") + 1
    else:
        change(folder, file, old, new)
        line = line_of(path, on_line)
    problems = lint([folder])
    found = [p for p in problems if (p.file, p.line, p.field) == (f"rules/{file}", line, field) and told in p.message]
    assert len(found) == 1, "\n".join(map(str, problems))
    printed = str(found[0])
    assert printed.startswith(f"rules/{file}:{line}: " if line else f"rules/{file}: ")
    assert field in printed


ALONE = [
    "unknown-cause-of-code",
    "unknown-symptom",
    "unknown-explained",
    "unknown-neighbour",
    "undeclared-fact-in-hole",
    "undeclared-fact-in-condition",
    "template-too-short",
    "example-does-not-match",
    "near-miss-matches",
    "no-examples",
    "fix-without-verify",
    "table-row-without-source",
    "strength-and-against",
    "template-broken",
    "condition-broken",
    "regex-broken",
]


def test_what_else_is_wrong_with_a_misnamed_rule_is_told_at_once(folder: Path) -> None:
    change(folder, OLD, "id: frob-old", "id: frob-olt")
    change(folder, OLD, "cause: no-cheese", "cause: no-chese")
    told = [(p.field, p.message) for p in lint([folder]) if p.file == f"rules/{OLD}"]
    assert ("id", "must be the name of the file, 'frob-old'") in told
    assert any(field == "points_to[1].cause" and "no-cheese" in message for field, message in told)


def test_an_example_is_not_at_fault_while_its_message_cannot_be_read(folder: Path) -> None:
    path = folder / GONE_FILE
    path.write_text(GONE.replace("'the frob went", "'the {:colour} frob went"), encoding="utf-8")
    (problem,) = lint([folder])
    assert (problem.file, problem.field) == (f"rules/{GONE_FILE}", "templates[0]")


def test_a_cause_is_not_at_fault_while_what_points_to_it_cannot_be_read(folder: Path) -> None:
    (folder / NO_CHEESE_FILE.replace("no-cheese", "no-wine")).write_text(
        NO_CHEESE.replace("cheese", "wine"), encoding="utf-8"
    )
    text = GONE.replace("frob-gone", "wine-gone").replace("cheese", "wine").replace("frob", "wine")
    path = folder / GONE_FILE.replace("frob-gone", "wine-gone")
    path.write_text(text.replace("strength: certain", "strength: certian"), encoding="utf-8")
    (problem,) = lint([folder])
    assert (problem.file, problem.field) == (
        f"rules/{GONE_FILE.replace('frob-gone', 'wine-gone')}",
        "points_to[0].strength",
    )
    path.write_text(text, encoding="utf-8")
    assert lint([folder]) == []
    path.unlink()
    (problem,) = lint([folder])
    assert (problem.file, problem.field) == ("rules/causes/library/no-wine.yaml", "id")


@pytest.mark.parametrize("name", ALONE)
def test_one_mistake_is_one_problem(folder: Path, name: str) -> None:
    file, old, new, *_ = MISTAKES[name]
    change(folder, file, old, new)
    assert len(lint([folder])) == 1


def test_a_template_without_literal_text(folder: Path) -> None:
    path = change(folder, GONE_FILE, "'the frob went away'\npoints", "'{:version} {frob.version:version}'\npoints")
    fields = {(p.file, p.line, p.field, p.message[:15]) for p in lint([folder])}
    assert (f"rules/{GONE_FILE}", line_of(path, "{:version}"), "templates[0]", "no literal text") in fields


def test_a_signature_without_any_template(folder: Path) -> None:
    change(folder, GONE_FILE, "templates:\n  - 'the frob went away'\n", "")
    problems = {(p.field, p.message) for p in lint([folder])}
    assert ("templates", "needs at least one template (or regex)") in problems


def test_a_signature_that_does_nothing(folder: Path) -> None:
    change(folder, GONE_FILE, "points_to:\n  - cause: no-cheese\n    strength: certain\n", "points_to: []\n")
    change(folder, CODES_FILE, "cause: old-frob", "cause: no-cheese")
    (problem,) = lint([folder])
    assert (problem.file, problem.field) == (f"rules/{GONE_FILE}", "points_to")
    assert "does nothing" in problem.message


def test_a_signature_that_only_a_condition_asks_for(folder: Path) -> None:
    change(folder, GONE_FILE, "points_to:\n  - cause: no-cheese\n    strength: certain\n", "points_to: []\n")
    change(folder, CODES_FILE, "cause: old-frob", "cause: no-cheese")
    change(folder, CAUSE_FILE, "when: known(frob.version)", "when: known(frob.version) and not seen(frob-gone)")
    assert lint([folder]) == []


def test_one_message_stands_in_one_signature(folder: Path) -> None:
    """Spacing, case and the names of holes make no other message; a catch-all may share one."""
    change(
        folder,
        GONE_FILE,
        "went away'\npoints",
        "went away'\n  - 'The frob is  version {:version} but cheese needs newer'\npoints",
    )
    problems = [p for p in lint([folder]) if "the same message stands in 'frob-gone'" in p.message]
    line = line_of(folder / OLD, "{frob.version:version}")
    assert [(p.file, p.line, p.field) for p in problems] == [(f"rules/{OLD}", line, "templates[0]")]
    change(folder, GONE_FILE, "templates:\n", "catch_all: true\ntemplates:\n")
    assert not [p for p in lint([folder]) if "the same message" in p.message]


CURE = """\
fixes:
  - use: new-frob
    title: Buy a frob and cheese
    when: ''
"""


def headed(cause: str) -> str:
    """What stands before the fixes of a cause."""
    return cause[: cause.index("fixes:")]


@pytest.fixture
def sharing(folder: Path) -> Path:
    """The small folder, in which one cause uses a fix of another but for its title and condition."""
    change(folder, CAUSE_FILE, "- title: Buy", "- id: new-frob\n    title: Buy")
    (folder / NO_CHEESE_FILE).write_text(headed(NO_CHEESE) + CURE, encoding="utf-8")
    return folder


def fixes(folders: list[Path], cause: str) -> list[dict[str, object]]:
    """The fixes of a cause as they are compiled, without the condition in its inner form."""
    found = Knowledge(compile_folders(folders)).causes[cause]["fixes"]
    return [
        {key: fix[key] for key in ("title", "when", "commands", "verify", "why", "source", "read")} for fix in found
    ]


def test_a_fix_can_be_used_by_another_cause_and_told_otherwise_there(sharing: Path) -> None:
    assert lint([sharing]) == []
    (written,), (used,) = fixes([sharing], "old-frob"), fixes([sharing], "no-cheese")
    assert written["when"] is not None
    assert used == written | {"title": "Buy a frob and cheese", "when": None}


def test_a_fix_that_is_used_outlives_its_cause(sharing: Path, tmp_path: Path) -> None:
    """Somebody's own cause takes the place of one, and uses its fix; the other cause keeps what it had of it."""
    own = tmp_path / "own" / CAUSE_FILE
    own.parent.mkdir(parents=True)
    own.write_text(headed(CAUSE) + CURE.replace("and cheese", "of gold"), encoding="utf-8")
    folders = [sharing, tmp_path / "own"]
    assert lint(folders) == []
    assert [fix["title"] for fix in fixes(folders, "old-frob")] == ["Buy a frob of gold"]
    assert [fix["title"] for fix in fixes(folders, "no-cheese")] == ["Buy a frob and cheese"]


@pytest.mark.parametrize(
    ("file", "old", "new", "field", "told"),
    [
        (
            "NO_CHEESE",
            "use: new-frob",
            "use: new-frog",
            "fixes[0].use",
            "no fix has the id 'new-frog'; nearest: new-frob",
        ),
        ("NO_CHEESE", "use: new-frob", "id: mine\n    use: new-frob", "fixes[0].id", "has a name already"),
        ("NO_CHEESE", "when: ''", "wehn: ''", "fixes[0].wehn", "unknown field; nearest: when"),
        ("NO_CHEESE", "use: new-frob", "use: [new-frob]", "fixes[0].use", "no fix has the id"),
        ("CAUSE", "id: new-frob", "id: New Frob", "fixes[0].id", "expected lower-case letters"),
        ("CAUSE", "id: new-frob", "id: [new-frob]", "fixes[0].id", "expected a text"),
    ],
)
def test_what_is_wrong_with_a_shared_fix(sharing: Path, file: str, old: str, new: str, field: str, told: str) -> None:
    name = {"CAUSE": CAUSE_FILE, "NO_CHEESE": NO_CHEESE_FILE}[file]
    path = change(sharing, name, old, new)
    problems = [p for p in lint([sharing]) if p.file == f"rules/{name}"]
    assert [(p.line, p.field) for p in problems] == [(line_of(path, new.splitlines()[0].strip()), field)]
    assert told in problems[0].message


def test_no_two_fixes_have_one_name(sharing: Path) -> None:
    change(sharing, NO_CHEESE_FILE, CURE, FIXES.replace("- title: Buy", "- id: new-frob\n    title: Buy a cheap"))
    problems = [p for p in lint([sharing]) if "already" in p.message]
    assert [p.field for p in problems] == ["fixes[0].id"]


def test_long_commands_are_not_written_twice(folder: Path) -> None:
    long = "commands: ['frob --upgrade --from the-shop-at-the-corner --with cheese --and butter --quiet --yes {frob.version}']"
    short = "commands: ['buy frob>{frob.version}']"
    (folder / NO_CHEESE_FILE).write_text(headed(NO_CHEESE) + FIXES.replace("Buy a new", "Take a new"), encoding="utf-8")
    assert lint([folder]) == []
    for name in (CAUSE_FILE, NO_CHEESE_FILE):
        change(folder, name, short, long)
    (problem,) = lint([folder])
    assert (problem.file, problem.field) == (f"rules/{CAUSE_FILE}", "fixes[0].commands")
    assert "'no-cheese', 'Take a new one'" in problem.message


def test_a_short_template_is_allowed_for_a_whole_line(folder: Path) -> None:
    change(folder, GONE_FILE, "  - 'the frob went away'\npoints_to", "  - 'No frob'\nat: line\npoints_to")
    change(folder, GONE_FILE, "'fatal: the frob went away'", "'No frob'")
    assert lint([folder]) == []


def test_a_cause_that_nothing_points_to(folder: Path) -> None:
    """Evidence against it is not a way to find it, and a pointer against it neither."""
    lonely = NO_CHEESE.replace("id: no-cheese", "id: lonely")
    evidence = "evidence: [{when: frob.version > 1, against: weak, why: w}]\nfixes:"
    path = folder / "causes" / "library" / "lonely.yaml"
    path.write_text(lonely.replace("fixes:", evidence), encoding="utf-8")
    change(folder, OLD, "cause: no-cheese\n    against", "cause: lonely\n    against")
    (problem,) = lint([folder])
    assert (problem.file, problem.line, problem.field) == ("rules/causes/library/lonely.yaml", 1, "id")
    assert "never be found" in problem.message
    path.write_text(lonely.replace("fixes:", evidence.replace("against", "strength")), encoding="utf-8")
    assert lint([folder]) == []


def test_a_fatal_cause_without_a_fix(folder: Path) -> None:
    path = folder / "causes/library/no-cheese.yaml"
    path.write_text(NO_CHEESE.partition("fixes:")[0], encoding="utf-8")
    (problem,) = lint([folder])
    assert (problem.file, problem.field) == ("rules/causes/library/no-cheese.yaml", "fixes")
    path.write_text(path.read_text(encoding="utf-8").replace("fatal", "benign"), encoding="utf-8")
    assert lint([folder]) == []


def test_table_rows_may_take_source_and_date_from_their_table(folder: Path) -> None:
    text = TABLE.replace(", source: frob.h, read: 2026-11-20", "")
    (folder / TABLE_FILE).write_text(text, encoding="utf-8")
    assert [(p.file, p.line, p.field) for p in lint([folder])] == [
        (f"rules/{TABLE_FILE}", 7, "rows[0]"),
        (f"rules/{TABLE_FILE}", 8, "rows[1]"),
    ]
    (folder / TABLE_FILE).write_text(text + "source: frob.h\nread: 2026-11-20\n", encoding="utf-8")
    assert lint([folder]) == []


def test_all_that_is_wrong_with_the_shape_of_a_file_is_told(folder: Path) -> None:
    path = change(folder, OLD, "title: The", "titel: The")
    change(folder, OLD, "strength: likely", "strength: likeli")
    change(folder, OLD, "against: weak", "against: [weak]\n    wen: x")
    change(folder, OLD, "read: 2026-11-20", "read: today")
    assert [(p.file, p.line, p.field, p.message.partition(";")[0]) for p in lint([folder])] == [
        (f"rules/{OLD}", 1, "", "missing required field `title`"),
        (f"rules/{OLD}", 2, "titel", "unknown field"),
        (
            f"rules/{OLD}",
            7,
            "points_to[0].strength",
            "'likeli': expected one of certain, likely, possible, strong, weak",
        ),
        (f"rules/{OLD}", 10, "points_to[1].against", "expected a text, got a list"),
        (f"rules/{OLD}", 11, "points_to[1].wen", "unknown field"),
        (f"rules/{OLD}", line_of(path, "read: "), "read", "expected a date such as 2026-11-20, got 'today'"),
    ]


def test_one_id_in_two_files(folder: Path) -> None:
    again = folder / "signatures" / "other" / "frob-old.yaml"
    again.parent.mkdir()
    again.write_text(SIGNATURE, encoding="utf-8")
    (problem,) = lint([folder])
    assert (problem.file, problem.line, problem.field) == ("rules/signatures/other/frob-old.yaml", 1, "id")
    assert f"rules/{OLD}" in problem.message


def test_one_id_for_a_cause_and_a_signature(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "signatures" / "x" / "no-cheese.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(GONE.replace("id: frob-gone", "id: no-cheese"), encoding="utf-8")
    (problem,) = lint([folder, tmp_path / "own"])
    assert (problem.file, problem.line, problem.field) == ("own/signatures/x/no-cheese.yaml", 1, "id")
    assert "a signature and a cause" in problem.message


def test_a_file_in_no_known_folder(folder: Path) -> None:
    (folder / "stray").mkdir()
    (folder / "stray" / "a.yaml").write_text("a: b\n", encoding="utf-8")
    (problem,) = lint([folder])
    assert problem.file == "rules/stray/a.yaml"
    assert "signatures/" in problem.message


def test_an_empty_file(folder: Path) -> None:
    (folder / OLD).write_text("# nothing yet\n", encoding="utf-8")
    assert any(p.file == f"rules/{OLD}" and p.message == "the file is empty" for p in lint([folder]))


def test_weights_are_numbers(folder: Path) -> None:
    (folder / "weights.yaml").write_text("certain: 6.5\nstrong: much\n", encoding="utf-8")
    (problem,) = lint([folder])
    assert (problem.file, problem.line, problem.field) == ("rules/weights.yaml", 2, "strong")
    (folder / "weights.yaml").write_text("- certain\n- strong\n", encoding="utf-8")
    assert [p.file for p in lint([folder])] == ["rules/weights.yaml"]
    (folder / "weights.yaml").write_text("certain: 6.5\nsturdy: 3\n", encoding="utf-8")
    (problem,) = lint([folder])
    assert (problem.file, problem.line, problem.field) == ("rules/weights.yaml", 2, "sturdy")


NAMED = """\
conditions:
  stale:
    when: frob.version < 2
    means: the frob is stale
  hopeless:
    when: holds(stale) and not known(cheese.version)
    means: the frob is stale and there is no cheese
"""


def test_a_condition_that_many_rules_ask_has_a_name(folder: Path) -> None:
    (folder / "conditions.yaml").write_text(NAMED, encoding="utf-8")
    change(folder, OLD, "when: frob.version < 3", "when: frob.version < 3 and not holds(hopeless)")
    assert lint([folder]) == []


@pytest.mark.parametrize(
    ("name", "old", "field"),
    [
        (OLD, "when: frob.version < 3", "points_to[0].when"),
        (CAUSE_FILE, "when: known(frob.version)", "fixes[0].when"),
        (PROBES_FILE, "when: not log.frob.version == frob.version", "elsewhere[0].when"),
    ],
)
def test_a_rule_that_names_no_condition_is_told_the_nearest(folder: Path, name: str, old: str, field: str) -> None:
    (folder / "conditions.yaml").write_text(NAMED.replace("holds(stale)", "frob.version < 1"), encoding="utf-8")
    change(folder, CAUSE_FILE, "when: frob.version.major < 2", "when: holds(stale) and not holds(hopeless)")
    assert lint([folder]) == []
    path = change(folder, name, old, "when: holds(hopless)")
    (problem,) = lint([folder])
    assert (problem.file, problem.line, problem.field) == (f"rules/{name}", line_of(path, "hopless"), field)
    assert "nearest: hopeless" in problem.message


@pytest.mark.parametrize(
    ("old", "new", "field", "told"),
    [
        ("frob.version < 2", "frob.version <", "conditions.stale.when", "column"),
        ("holds(stale)", "holds(hopeless)", "conditions.hopeless.when", "no such condition"),
        ("holds(stale)", "frob.version < 1", "conditions.stale", "no rule asks"),
        ("    means: the frob is stale\n", "", "conditions.stale", "means"),
    ],
)
def test_a_named_condition_that_says_nothing_is_a_mistake(
    folder: Path, old: str, new: str, field: str, told: str
) -> None:
    (folder / "conditions.yaml").write_text(NAMED.replace(old, new), encoding="utf-8")
    change(folder, OLD, "when: frob.version < 3", "when: holds(hopeless)")
    (problem,) = (p for p in lint([folder]) if p.file == "rules/conditions.yaml")
    assert problem.field == field
    assert told in problem.message


def test_a_named_condition_that_cannot_be_read_is_told_once(folder: Path) -> None:
    (folder / "conditions.yaml").write_text(NAMED.replace("frob.version < 2", "frob.version <"), encoding="utf-8")
    change(folder, OLD, "when: frob.version < 3", "when: holds(hopeless) and not holds(stale)")
    assert [(p.file, p.field) for p in lint([folder])] == [("rules/conditions.yaml", "conditions.stale.when")]


def test_a_signature_for_unexplained_lines_has_patterns_only(folder: Path) -> None:
    path = change(folder, OLD, "templates:", "in: unexplained\ntemplates:")
    problems = [p for p in lint([folder]) if p.field == "templates[0]"]
    assert [(p.file, p.line) for p in problems] == [(f"rules/{OLD}", line_of(path, "templates:") + 1)]
    assert "write it under regex" in problems[0].message


def test_a_general_signature_cannot_ask_for_logs_of_the_field(folder: Path) -> None:
    change(folder, OLD, "templates:", "in: unexplained\nof_field: true\ntemplates:")
    (problem,) = [p for p in lint([folder]) if p.field == "of_field"]
    assert "never asked about logs of other fields" in problem.message


def test_a_folder_without_rules_is_a_mistake(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (problem,) = lint([folder, tmp_path / "logs"])
    assert (problem.file, problem.message) == (str(tmp_path / "logs"), "no rules (*.yaml) in this folder")


@pytest.mark.parametrize("shape", ["CALL failed", "failed: NUMBER", "CALL failed: NUMBER, NUMBER"])
def test_a_shape_of_calls_has_one_place_for_the_name_and_one_for_the_number(folder: Path, shape: str) -> None:
    (folder / "calls.yaml").write_text(f"shapes: ['CALL failed with NUMBER', '{shape}']\nsource: s\nread: 2026-11-20\n")
    (problem,) = lint([folder])
    assert (problem.file, problem.line, problem.field) == ("rules/calls.yaml", 1, "shapes[1]")
    assert "CALL and NUMBER once each" in problem.message


@pytest.mark.parametrize("number", ["three", "'08'"])
def test_a_code_number_that_is_no_number(folder: Path, number: str) -> None:
    path = change(folder, CODES_FILE, "number: 3", f"number: {number}")
    (problem,) = lint([folder])
    assert (problem.file, problem.line) == (f"rules/{CODES_FILE}", line_of(path, "number: "))


def test_problems_are_all_told_at_once_in_file_order(folder: Path) -> None:
    for name in ("unknown-neighbour", "unknown-cause", "table-row-without-source", "example-does-not-match"):
        file, old, new, *_ = MISTAKES[name]
        change(folder, file, old, new)
    problems = lint([folder])
    assert [(p.file, p.field) for p in problems] == [
        (f"rules/{CAUSE_FILE}", "neighbours[0]"),
        (f"rules/{TABLE_FILE}", "rows[1]"),
        (f"rules/{OLD}", "points_to[0].cause"),
        (f"rules/{OLD}", "examples[0]"),
    ]


def test_a_fatal_message_in_a_healthy_log(folder: Path, tmp_path: Path) -> None:
    healthy = tmp_path / "healthy"
    healthy.mkdir()
    (healthy / "good.log").write_text("epoch 1\nnote: the frob went\n   away for lunch\n", encoding="utf-8")
    (problem,) = lint([folder], healthy)
    assert (problem.file, problem.line, problem.field) == (f"rules/{GONE_FILE}", 3, "templates")
    assert "good.log" in problem.message
    path = change(folder, GONE_FILE, "read: 2026", "survived: true\nread: 2026")
    assert lint([folder], healthy) == []  # the program is known to go on after it
    path.write_text(GONE.replace("certain", "possible"), encoding="utf-8")
    assert lint([folder], healthy) == []  # it claims little
    path.write_text(GONE.replace("certain", "certain\n    when: frob.version > 3"), encoding="utf-8")
    assert lint([folder], healthy) == []  # facts decide


def test_a_rule_in_a_second_folder_replaces_the_one_with_its_id(folder: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "signatures" / "mine" / "frob-gone.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(GONE.replace("frob went away", "frob has left the house"), encoding="utf-8")
    folders = [folder, tmp_path / "own"]
    assert lint(folders) == []
    found = Knowledge(compile_folders(folders)).by_id["frob-gone"]["templates"]
    assert [template["text"] for template in found] == ["the frob has left the house"]
    own.write_text(GONE.replace("came back", "went away"), encoding="utf-8")
    assert [(p.file, p.line) for p in lint(folders)] == [("own/signatures/mine/frob-gone.yaml", 11)]


def test_a_folder_can_take_rules_out(folder: Path, tmp_path: Path) -> None:
    """Nothing that names a rule taken out becomes a mistake by that."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "disabled.yaml").write_text("- frob-old\n- old-frob\n", encoding="utf-8")
    assert lint([folder, own]) == []
    knowledge = Knowledge(compile_folders([folder, own]))
    assert set(knowledge.causes) == {"no-cheese"}
    assert "frob-old" not in knowledge.by_id
    assert knowledge.by_id["FROB_OLD"]["points_to"] == []
    (own / "disabled.yaml").write_text("- frob-old\n- frob-odd\n", encoding="utf-8")
    (problem,) = lint([folder, own])
    assert (problem.file, problem.line) == ("own/disabled.yaml", 2)
    assert "'frob-odd'" in problem.message


def test_a_rule_file_with_another_ending_is_not_passed_over(folder: Path) -> None:
    (folder / "signatures" / "frob" / "frob-new.yml").write_text(GONE, encoding="utf-8")
    (problem,) = lint([folder])
    assert problem.file == "rules/signatures/frob/frob-new.yml"
    assert ".yaml" in problem.message


def test_a_replaced_rule_is_not_checked_any_more(folder: Path, tmp_path: Path) -> None:
    change(folder, GONE_FILE, "'the frob came back'", "'the frob went away'")
    own = tmp_path / "own" / GONE_FILE
    own.parent.mkdir(parents=True)
    own.write_text(GONE, encoding="utf-8")
    assert len(lint([folder])) == 1
    assert lint([folder, tmp_path / "own"]) == []


def test_a_knowledge_base_with_mistakes_cannot_be_used_and_tells_all_of_them(folder: Path) -> None:
    for name in ("template-broken", "wrong-word-of-cause"):
        file, old, new, *_ = MISTAKES[name]
        change(folder, file, old, new)
    with pytest.raises(KnowledgeError) as error:
        compile_folders([folder])
    told = {line.partition(": ")[0] for line in str(error.value).splitlines()}
    assert {f"rules/{CAUSE_FILE}:4", f"rules/{OLD}:4"} <= told


@pytest.mark.parametrize("file", [CAUSE_FILE, OLD])
def test_what_names_a_rule_that_cannot_be_read_is_not_at_fault(folder: Path, file: str) -> None:
    change(folder, file, "title: The", "title: [The")
    problems = lint([folder])
    assert [(p.file, p.line > 0) for p in problems] == [(f"rules/{file}", True)]


def test_only_examples_leaves_the_other_checks_out(folder: Path) -> None:
    for name in ("near-miss-matches", "unknown-neighbour"):
        file, old, new, *_ = MISTAKES[name]
        change(folder, file, old, new)
    assert [p.field for p in only_examples([folder])] == ["near_misses[0]"]


def test_the_examples_of_rules_that_stand_beside_ones_own_are_not_tried_again(folder: Path, tmp_path: Path) -> None:
    file, old, new, *_ = MISTAKES["near-miss-matches"]
    change(folder, file, old, new)
    own = tmp_path / "own" / "signatures" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text((folder / OLD).read_text(encoding="utf-8").replace("id: ", "id: mine # ", 1), encoding="utf-8")
    for check in (lint, only_examples):
        assert any(p.field == "near_misses[0]" for p in check([folder, own.parents[1]]))
        assert not any(p.file == f"rules/{file}" for p in check([own.parents[1]], beside=[folder]))


@pytest.mark.parametrize("action", ["lint", "test"])
def test_the_command_prints_the_problems_and_fails(
    folder: Path, action: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cudnn_triage.knowledge.base.source_rules", lambda: str(folder))
    monkeypatch.chdir(ROOT)
    assert main(["rules", action, str(folder)]) == 0
    assert capsys.readouterr().out == "0 problems\n"
    file, old, new, *_ = MISTAKES["near-miss-matches"]
    path = change(folder, file, old, new)
    assert main(["rules", action, str(folder)]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{path}:{line_of(path, '[worker]')}: near_misses[0]: matches, but must not")
    assert last == "1 problem"


def test_a_folder_that_is_named_from_here_gives_paths_that_can_be_opened_from_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cudnn_triage.knowledge.base.source_rules", lambda: str(folder))
    change(folder, OLD, "title: The", "titel: x\ntitle: The")
    for at, name in ((folder, "."), (folder.parent, "rules"), (folder / "codes", "..")):
        monkeypatch.chdir(at)
        main(["rules", "lint", name])
        told = next(line for line in capsys.readouterr().out.splitlines() if "titel" in line)
        assert Path(told.split(":")[0]).samefile(folder / OLD)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["Bad_Id"], "lower-case letters and digits in words with hyphens"),
        (["../x"], "lower-case letters and digits in words with hyphens"),
        (["cudnn-not-found"], "there is a rule of that id"),
        (["my-new", "--cause", "cudnn-not-fond"], "nearest: cudnn-not-found"),
    ],
)
def test_a_new_signature_needs_a_free_id_and_a_known_cause(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "new", *words]) == 2
    assert told in capsys.readouterr().err


def test_every_scalar_is_a_string_and_knows_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1.10\nb: [yes, null]\nc:\n  d.e: 2026-11-20\n", encoding="utf-8")
    document = load(path, "a.yaml")
    assert document.data == {"a": "1.10", "b": ["yes", "null"], "c": {"d.e": "2026-11-20"}}
    assert [document.line(p) for p in ("$.a", "$.b[1]", "$.c.d.e", "$.c.d.e.f[3]", "$.z")] == [1, 2, 4, 4, 1]


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(Problem, match=r"^none\.yaml: cannot be read"):
        load(Path("/no/such/none.yaml"), "none.yaml")


# ---- the knowledge gate: the rules that are shipped


@pytest.fixture(scope="module")
def shipped() -> Rulebook:
    return rulebook.read([ROOT / "rules"])


def test_knowledge_gate_every_cause_is_explained_in_a_few_sentences(shipped: Rulebook) -> None:
    lengths = {
        cause.id: len(re.findall(r"[.!?](?=\s|$)", " ".join(cause.explanation.split())))
        for cause in shipped.causes.values()
    }
    assert {name: n for name, n in lengths.items() if not 1 <= n <= 6} == {}


def test_knowledge_gate_every_fatal_cause_has_a_fix_that_can_be_verified(shipped: Rulebook) -> None:
    fatal = [cause for cause in shipped.causes.values() if cause.severity == "fatal"]
    assert len(fatal) > 30
    assert [cause.id for cause in fatal if not cause.fixes] == []
    assert [
        (cause.id, fix.title) for cause in fatal for fix in cause.fixes if not any(v.strip() for v in fix.verify)
    ] == []


def test_knowledge_gate_every_message_says_in_which_releases_it_stands(shipped: Rulebook) -> None:
    assert [s.id for s in shipped.signatures.values() if s.inside != "unexplained" and not s.releases] == []


RECORDED = re.compile(r"\{([A-Za-z][\w.-]*):")
HOLE = re.compile(r"(?<![${])\{([A-Za-z][\w.-]*)\}")


def test_knowledge_gate_commands_take_typed_facts_only(shipped: Rulebook) -> None:
    """A hole in a command is filled from versions, numbers, names of libraries, scripts and images, and tables: never from free text."""
    wrong, seen = [], 0
    of_messages = {name for s in shipped.signatures.values() for t in s.templates for name in RECORDED.findall(t)}
    assert "missing.library" in of_messages
    of_tables = {name for t in shipped.tables.values() for name in t.gives.values()} - of_messages
    for cause in shipped.causes.values():
        for fix in cause.fixes:
            for command in (*fix.commands, *fix.verify):
                for name in HOLE.findall(command):
                    seen += 1
                    stem = name
                    while stem and stem not in shipped.facts:
                        stem = stem.rpartition(".")[0]
                    typed = stem and shipped.facts[stem].type in ("version", "cc", "int", "soname", "script", "image")
                    if not (typed or stem in of_tables):
                        wrong.append((cause.id, name, command))
            wrong += [(cause.id, name, "needs") for name in fix.needs if name not in shipped.facts]
    assert wrong == []
    assert seen > 10


def test_knowledge_gate_every_fact_has_a_known_type_and_a_way_to_read_it(shipped: Rulebook) -> None:
    assert {name: fact.type for name, fact in shipped.facts.items() if fact.type not in HOLES} == {}
    assert not STRUCTURE_FACTS.keys() & shipped.facts.keys()


def test_knowledge_gate_tables_look_up_and_yield_declared_facts(shipped: Rulebook) -> None:
    tables = shipped.tables.values()
    known = shipped.facts.keys() | STRUCTURE_FACTS.keys()
    assert sorted((t.table, t.key) for t in tables if t.key and t.key not in known) == []
    given = {(t.table, name) for t in tables for name in t.gives.values()}
    assert sorted((table, name) for table, name in given if name not in shipped.facts) == []


def test_an_example_must_match_as_a_log_has_it(folder: Path) -> None:
    """A log loses the date, host and program of its lines before rules see them, so no rule can ask for these."""
    change(folder, GONE_FILE, "  - 'the frob went away'\npoints", "  - 'frobd[7]: the frob went away'\npoints")
    change(folder, GONE_FILE, "'fatal: the frob went away'", "'Mar 31 06:53:50 node1 frobd[7]: the frob went away'")
    (problem,) = lint([folder])
    assert problem.field == "examples[0]"
    assert "cleaning leaves 'the frob went away'" in problem.message
