"""Templates: how they are read, what is wrong with them, and that a message is found however it was wrapped."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
import re2
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conftest import Rules
from cudnn_triage.grammar import parse as parse_lines
from cudnn_triage.knowledge.base import Knowledge
from cudnn_triage.knowledge.templates import (
    HOLES,
    Choice,
    Hole,
    Literal,
    TemplateError,
    compile_template,
    literals,
    parse,
)
from cudnn_triage.lines import Line
from cudnn_triage.matching import Matcher, Occurrence, Stream
from cudnn_triage.structure import Role, Structure
from cudnn_triage.values import read, show, squeeze


def matches(template: str, text: str, at: str = "anywhere") -> Any:
    return re2.compile(compile_template(template, at)["re"]).search(text)


def knowledge(*templates: str, at: str = "anywhere") -> Knowledge:
    """A knowledge base of one signature."""
    rule = {
        "id": "it",
        "title": "t",
        "templates": [compile_template(template, at) for template in templates],
        "points_to": [],
        "symptom_of": [],
        "sets": {},
        "unless": [],
        "inside": "program",
        "survived": False,
        "catch_all": False,
        "code": False,
    }
    empty: dict[str, Any] = {
        "causes": {},
        "facts": {},
        "weights": {},
        "hunches": None,
        "tables": [],
        "numbers": {},
        "libraries": {},
        "recipes": {},
        "texts": {},
    }
    empty |= {"probes": {}, "settings": {}, "elsewhere": [], "no_gpu": None, "cure_first": []}
    return Knowledge({"digest": "", "rules": [rule], "field_words": [], "field_marks": [], "error_words": [], **empty})


def found(matcher: Matcher, text: str) -> list[Occurrence]:
    lines = [Line(line, number, 0, 0) for number, line in enumerate(text.split("\n"), 1)]
    return matcher.find(Stream(lines, ()), Structure(tuple(Role.TEXT for _ in lines)))


# ---- reading


def test_text_named_holes_unnamed_holes_and_choices() -> None:
    assert parse("Loaded {cudnn.loaded:version} of {:soname}, {=first|second|}: {:code(cudart)}") == (
        Literal("Loaded "),
        Hole("cudnn.loaded", "version"),
        Literal(" of "),
        Hole("", "soname"),
        Literal(", "),
        Choice(("first", "second", "")),
        Literal(": "),
        Hole("", "code", "cudart"),
    )


def test_doubled_braces_stand_for_themselves() -> None:
    assert parse("{{x}} = {{ {a.b:int} }}") == (Literal("{x} = { "), Hole("a.b", "int"), Literal(" }"))
    assert matches("value {{x}} is {:int}", "Value {x} is 3")


def test_white_space_and_line_ends_are_kept() -> None:
    assert parse("  a\tb\n  c ") == (Literal("  a\tb\n  c "),)


@pytest.mark.parametrize(
    ("template", "column"),
    [
        ("CUDA error {oops", 12),
        ("CUDA } error", 6),
        ("{a.b:version", 1),
        ("CUDA {9x:int}", 6),
        ("CUDA {a b:int}", 6),
        ("CUDA {=a|b", 6),
        ("CUDA {}", 6),
        ("CUDA {a.b:INT}", 6),
        ("fine\nCUDA {oops", 6),
    ],
)
def test_what_cannot_be_read_is_told_with_its_column(template: str, column: int) -> None:
    with pytest.raises(TemplateError, match=f"^column {column}: expected text"):
        parse(template)


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("CUDA {:verzion} error", "unknown hole type 'verzion'"),
        ("CUDA {a.b:colour}", "known: any, archs"),
        ("CUDA error {:code}", r"names its library: \{:code\(cudart\)\}"),
        ("CUDA error: {:text}", r"names its library: \{:text\(cudart\)\}"),
        ("CUDA {a.b:int}{c.d:int} error", "two holes need text"),
        ("{:version}", "no literal text"),
        ("{:version} {:int}", "no literal text"),
        ("{=one thing|another thing}", "no literal text"),
        ("a {:int} b", "no literal text"),
        ("", "no literal text"),
    ],
)
def test_what_cannot_be_used_is_told(template: str, told: str) -> None:
    with pytest.raises(TemplateError, match=told):
        compile_template(template, "anywhere")


def test_the_anchor_is_the_longest_text_squeezed() -> None:
    data = compile_template("Loaded {:version} but Compiled\n with {:version} now", "anywhere")
    assert data["anchor"] == "butcompiledwith"
    assert data["parts"] == ["loaded", "butcompiledwith", "now"]
    assert data["breaks"] == 1


@given(st.text(min_size=0, max_size=60))
def test_any_text_is_read_or_told_why_not(template: str) -> None:
    try:
        parts = parse(template)
    except TemplateError as error:
        assert str(error)
    else:
        assert all(isinstance(part, Literal | Hole | Choice) for part in parts)


PRINTABLE = st.text([*map(chr, range(32, 127)), "\n", "\t"], min_size=1, max_size=60)


@given(PRINTABLE.filter(lambda text: max(map(len, squeeze(text).split("`"))) >= 3))
def test_any_text_with_braces_doubled_is_a_template_that_matches_it(text: str) -> None:
    template = text.replace("{", "{{").replace("}", "}}")
    assert parse(template) == (Literal(text),)
    assert matches(template, text)


# ---- matching


SAMPLES: dict[str, list[str]] = {
    "version": ["8.0.5", "v8.9.2", "2.1.0+cu118", "12", "535.104.05", "2.0.0rc1", "2.3.0.dev20240101"],
    "vtuple": ["(9, 8, 0)", "(8, 6)"],
    "cudnnint": ["8902", "90100"],
    "cudaint": ["11070", "9020"],
    "ncclint": ["21805", "2708"],
    "int": ["3", "-1", "1,024", "1073741824"],
    "float": ["0.5", "12", "-1.5", "1e-05"],
    "hex": ["0x7f12ab", "deadbeef"],
    "size": ["20.00 MiB", "512M", "1.5GB", "1024 bytes", "1,024 KiB"],
    "bytes": ["4294967296"],
    "cc": ["8.6", "86", "sm_86", "compute_90a", "(8, 6)", "sm_120"],
    "archs": ["sm_50 sm_60 compute_90", "sm_37 sm_50", "3.5;5.2;8.0+PTX"],
    "soname": ["libcudnn.so.8", "/usr/local/lib/libcublas.so.11", "cudnn64_8.dll", "libfoo.dylib", "libc10_cuda.so"],
    "script": ["train.py", "tools/dist_train.py", "run-2.py"],
    "image": ["nvcr.io/nvidia/pytorch:24.05-py3", "localhost:5000/a/b_c", "ubuntu", f"a/b@sha256:{'0a' * 32}"],
    "path": ["/usr/lib/python3/a.py", "C:\\x\\y.py", "relative/file"],
    "word": ["conv2d", "a_b.c+d-e", "7"],
}


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, found in SAMPLES.items() for value in found])
def test_each_hole_takes_each_form_of_its_value_and_no_more(kind: str, value: str) -> None:
    for template, text in (
        (f"frob needs {{x.y:{kind}}} now, or fails", f"E frob needs {value} now, or fails."),
        (f"frob needs cheese: {{x.y:{kind}}}", f"E frob needs cheese: {value}"),
        (f"frob needs ({{x.y:{kind}}}) as cheese", f"E frob needs ({value}) as cheese"),
    ):
        match = matches(template, text)
        assert match, text
        assert match[1] == value
        assert read(kind, match[1]) is not None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("version", "eight"),
        ("int", "many"),
        ("size", "20"),
        ("cudnnint", "890"),
        ("cc", "tesla"),
        ("soname", "libcudnn"),
        ("soname", "libcudnn.sock"),
        ("bytes", "1.5GB"),
        ("script", "train.pyc"),
        ("script", "$(reboot).py"),
        ("image", "$(reboot)"),
        ("word", "two words"),
        ("path", "two words"),
        ("vtuple", "8.6"),
    ],
)
def test_a_hole_takes_nothing_else(kind: str, text: str) -> None:
    assert not matches(f"frob needs {{x.y:{kind}}} now", f"frob needs {text} now")


def test_every_hole_type_has_samples_or_is_open() -> None:
    assert HOLES.keys() - SAMPLES.keys() == {"any", "rest", "gpu", "code", "text", "call"}


def test_open_holes() -> None:
    assert matches("frob of {x.y:any} failed at last", "frob of 'a' [b] (c) failed at last")[1].strip() == "'a' [b] (c)"
    assert matches("frob failed: {x.y:rest}", "frob failed: for no reason.\nnext")[1] == "for no reason."
    assert matches("frob on {g.n:gpu}, again", "frob on NVIDIA H100 80GB HBM3, again")[1] == "NVIDIA H100 80GB HBM3"


def test_choices_may_be_empty_and_the_longer_one_wins() -> None:
    template = "the frob {=has been|has|} lost"
    for text in ("the frob has been lost", "the frob has lost", "the frob lost"):
        assert matches(template, text)
    assert not matches(template, "the frob was lost")


@pytest.mark.parametrize(
    "text", ["linking with `link.exe` failed: exit code: 1120", "linking with link.exe failed: exit code: 1120"]
)
def test_backticks_that_a_page_has_eaten_are_not_missed(text: str) -> None:
    assert matches("linking with `link.exe` failed: exit code: {:int}", text)
    assert not matches("linking with `link.exe` failed: exit code: {:int}", text.replace("link.exe", "clink.exe"))


def test_a_match_begins_and_ends_at_word_boundaries() -> None:
    assert not matches("frob lost cheese", "xfrob lost cheese")
    assert not matches("frob lost cheese", "frob lost cheeses")
    assert matches("frob lost cheese", "(frob lost cheese)")
    assert matches("[frob] lost cheese:", "x[frob] lost cheese:y")
    assert not matches("frob lost {=cheese|milk}", "frob lost cheeses")
    assert not matches("frob lost cheese {:int}", "frob lost cheese 12th")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{=a|the} frob failed", "banana frob failed"),
        ("{a.b:version} is too old a frob", "abc8.0 is too old a frob"),
        ("the frob failed {=twice|}", "the frob failedly"),
    ],
)
def test_a_match_begins_and_ends_at_word_boundaries_beside_holes_and_choices(
    rules: Rules, template: str, text: str
) -> None:
    rules.facts(a__b="version")
    rules.signature("frob", template)
    lines = [Line(text, 1, 0, 0)]
    assert not Matcher(rules.knowledge()).find(Stream(lines, ()), parse_lines(lines))


@pytest.mark.parametrize("text", ["ошибка драйвера", "pilote non chargé", "00¹"])
def test_a_template_that_begins_or_ends_with_another_alphabet_matches_itself(text: str) -> None:
    assert matches(text, text)


def test_at_line_and_at_start() -> None:
    assert matches("frob lost", "a\n  frob lost  \nb", "line")
    assert matches("frob lost", "> frob lost", "line")
    assert not matches("frob lost", "frob lost cheese", "line")
    assert not matches("frob lost", "a frob lost", "line")
    assert matches("frob lost", "a\n frob lost cheese", "start")
    assert not matches("frob lost", "a frob lost cheese", "start")


# ---- properties: a template made of words and holes finds its own message


WORD = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=1, max_size=9)
MARK = st.sampled_from(
    [" ", " ", " ", ": ", ", ", " (", "='", " - ", " {", "} ", " [", "? ", " * ", " \\ ", " | ", "\n"]
)
TYPES = sorted(set(SAMPLES) - {"archs"})


@st.composite
def messages(draw: st.DrawFn) -> tuple[str, list[tuple[str, bool]], list[tuple[str, str]]]:
    """A template, its message in pieces (text, may be broken), and the (type, text) of its holes."""
    template, pieces, values = "", [], []

    def say(text: str) -> None:
        nonlocal template
        template += text.replace("{", "{{").replace("}", "}}")
        pieces.append((text, True))

    for i in range(draw(st.integers(1, 4))):
        if i or draw(st.booleans()):
            kind = draw(st.sampled_from(TYPES))
            value = draw(st.sampled_from(SAMPLES[kind]))
            if i:
                say(draw(MARK))
            template += f"{{{f'fact.n{i}' if draw(st.booleans()) else ''}:{kind}}}"
            pieces.append((value, False))
            values.append((kind, value))
            say(draw(MARK))
        for word in draw(st.lists(WORD, min_size=2, max_size=5)):
            say(word)
            say(draw(MARK))
        say(draw(WORD))
    assume(max(map(len, literals(parse(template)))) >= 3)
    return template, pieces, values


CASES = st.sampled_from([str, str.upper, str.lower, str.swapcase])


def breakable(pieces: list[tuple[str, bool]]) -> list[int]:
    """Where the message may be broken: at any column but inside a value, and not before it begins or after it ends."""
    places, at = [], 0
    for text, free in pieces:
        places += range(at, at + len(text) + 1) if free else [at, at + len(text)]
        at += len(text)
    return sorted(set(places) - {0, at})


@settings(max_examples=150)
@given(messages(), st.data(), CASES)
def test_a_template_matches_its_own_message_broken_anywhere_in_any_case(
    message: Any, data: st.DataObject, case: Any
) -> None:
    template, pieces, values = message
    text = "".join(text for text, _ in pieces)
    cuts = sorted(data.draw(st.sets(st.sampled_from(breakable(pieces)), max_size=4)))
    indent = data.draw(st.sampled_from(["", " ", "\t  "]))
    broken = ("\n" + indent).join(text[a:b] for a, b in pairwise([0, *cuts, len(text)]))
    match = matches(template, case(broken))
    assert match
    assert match.group(0).strip() == case(broken).strip()
    assert [match[i + 1] for i in range(len(values))] == [case(value) for _, value in values]


@settings(max_examples=100)
@given(messages(), st.integers(0, 6000), st.integers(0, 6000), st.data())
def test_the_matcher_finds_a_message_in_a_long_line_and_reads_its_values(
    message: Any, before: int, after: int, data: st.DataObject
) -> None:
    template, pieces, values = message
    matcher = Matcher(knowledge(template))
    text = "".join(text for text, _ in pieces)
    cut = data.draw(st.sampled_from(breakable(pieces)))
    for said in (text, text[:cut] + "\n" + text[cut:], text.replace(" ", "   ")):
        (one,) = found(matcher, "~ " * before + said + " ~" * after)
        named = [i for i, part in enumerate(p for p in parse(template) if isinstance(p, Hole)) if part.name]
        wanted = [show(read(values[i][0], values[i][1]) or "") for i in named]
        assert [show(capture.value) for capture in one.captures] == wanted


@settings(max_examples=60)
@given(messages(), st.data())
def test_a_message_that_lacks_one_of_its_words_is_another_message(message: Any, data: st.DataObject) -> None:
    template, pieces, _ = message
    words = [i for i, (text, free) in enumerate(pieces) if free and text.isalpha()]
    gone = data.draw(st.sampled_from(words))
    # a word that no literal text can supply stands in its place
    text = "".join("0" if i == gone else text for i, (text, _) in enumerate(pieces))
    assert not found(Matcher(knowledge(template)), text)


@settings(max_examples=60)
@given(st.lists(messages(), min_size=2, max_size=5))
def test_templates_of_one_signature_do_not_hinder_each_other(several: list[Any]) -> None:
    matcher = Matcher(knowledge(*(template for template, _, _ in several)))
    for _, pieces, _ in several:
        assert found(matcher, "".join(text for text, _ in pieces))
