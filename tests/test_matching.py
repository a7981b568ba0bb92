"""Messages are found however they were wrapped, and nothing else is."""

from __future__ import annotations

import time
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Rules
from cudnn_triage import matching
from cudnn_triage.cleaning import clean
from cudnn_triage.engine import Triager
from cudnn_triage.fuzzy import _THRESHOLD, FuzzyMatcher, _align, _nearest, _too_far
from cudnn_triage.grammar import parse
from cudnn_triage.knowledge.base import load
from cudnn_triage.lines import Line
from cudnn_triage.matching import Matcher, Occurrence, Stream
from cudnn_triage.reading import read, read_text

MESSAGE = "Loaded runtime CuDNN library: {cudnn.loaded:version} but source was compiled with: {cudnn.compiled:version}"
LINE = "E cuda_dnn.cc:352] Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0."


def find(rules: Rules, text: str, *, fuzzy: bool = False) -> list[Occurrence]:
    lines = [Line(line, number, 0, 0) for number, line in enumerate(text.split("\n"), 1)]
    structure, knowledge = parse(lines), rules.knowledge()
    stream = Stream(lines, knowledge.field_marks)
    exact = Matcher(knowledge).find(stream, structure)
    return FuzzyMatcher(knowledge).find(stream, structure, exact) if fuzzy else exact


@pytest.fixture
def loaded(rules: Rules) -> Rules:
    rules.facts(cudnn__loaded="version", cudnn__compiled="version")
    rules.cause("mismatch")
    rules.points("loaded-older", MESSAGE, "mismatch")
    return rules


@pytest.mark.parametrize(
    "text",
    [
        LINE,
        LINE.upper().replace("E CUDA_DNN.CC", "x"),
        LINE.replace(" library: ", "\n   library: "),
        "\n".join(LINE[i : i + 40] for i in range(0, len(LINE), 40)).replace("\n", ""),
        LINE.replace(" ", "    "),
        "x " * 3000 + LINE + " y" * 3000,
    ],
)
def test_wrapping_case_and_spacing_do_not_matter(loaded: Rules, text: str) -> None:
    (found,) = find(loaded, text)
    assert {c.name: str(c.value) for c in found.captures} == {"cudnn.loaded": "8.0.5", "cudnn.compiled": "8.1.0"}


def test_a_message_broken_inside_a_word_matches(loaded: Rules) -> None:
    assert find(loaded, LINE.replace("compiled", "comp\niled"))


@pytest.mark.parametrize(
    "text",
    [
        "Loaded runtime CuDNN library: 8.0.5",
        "Preloaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0",
        "Loaded runtime CuDNN library: eight but source was compiled with: nine",
        "Loaded runtime CuDNN library: 8.0.5\n" + "unrelated line\n" * 30 + "but source was compiled with: 8.1.0",
    ],
)
def test_neighbours_do_not_match(loaded: Rules, text: str) -> None:
    assert not find(loaded, text)


def test_the_place_of_a_match_and_of_its_values(loaded: Rules) -> None:
    (found,) = find(loaded, "first\n" + LINE)
    assert (found.first, found.start) == (1, LINE.index("Loaded"))
    assert [c.at for c in found.captures] == [LINE.index("8.0.5"), LINE.index("8.1.0")]


def test_every_repetition_is_found_once(loaded: Rules) -> None:
    assert len(find(loaded, "\n".join([LINE] * 7))) == 7


def test_a_message_in_everyday_words_may_count_only_in_logs_of_the_field(rules: Rules) -> None:
    rules.cause("c")
    rules.facts()
    rules.points("bus", "the bus is late again", "c", more="of_field: true\n")
    elsewhere = "".join(f"12:00:0{n} tram {n} waits at the depot\n" for n in range(7))
    triager = rules.triager()

    def causes(text: str) -> list[str]:
        return [d.cause for d in triager.triage(read_text(text, "")).diagnoses]

    assert causes("the bus is late again") == ["c"]
    assert causes(f"{elsewhere}the bus is late again") == []
    assert causes(f"{elsewhere}the bus is late again\nno cuda today") == ["c"]
    assert causes(f"{elsewhere}the bus was late agaim\n") == []  # nor by likeness


def test_a_status_name_is_not_found_inside_a_longer_one(rules: Rules) -> None:
    rules.cause("c")
    rules.points("short", "STATUS_NOT_SUPPORTED", "c")
    assert find(rules, "error STATUS_NOT_SUPPORTED (3)")
    assert not find(rules, "error STATUS_NOT_SUPPORTED_ARCH_MISMATCH (3)")


def test_whole_line_messages_match_whole_lines_only(rules: Rules) -> None:
    rules.cause("c")
    rules.points("killed", "Killed", "c", more="at: line")
    assert find(rules, "a\nKilled\nb")
    assert not find(rules, "a\nKilled by the cat\nb")


def test_a_pattern_of_many_lines_is_found_by_words_far_below_its_first(rules: Rules) -> None:
    rules.cause("c")
    pattern = r"regex: ['^card\b[^\n]*\n(?:[ ]+[^\n]+\n){0,60}?[ ]+link is slow']"
    rules.points("link", "the link of that card was found slow", "c", more=pattern)
    between = "".join(f"    capability {i}: {'x' * 30}\n" for i in range(30))
    assert [o.rule for o in find(rules, f"card 1\n{between}    link is slow")] == ["link"]


@pytest.mark.parametrize("line", ["that card has gone away: 3", "That CARD fell  off the\tbus: 3"])
def test_a_pattern_is_found_by_any_of_its_alternatives(rules: Rules, line: str) -> None:
    rules.cause("c")
    pattern = r"regex: ['that card (?:has gone away|fell\s+off the\s+bus): \d']"
    rules.points("lost", "that card was lost for good", "c", more=pattern)
    assert [o.rule for o in find(rules, line)] == ["lost"]
    assert not find(rules, "that card has gone, and the bus: 3")


def test_a_bracket_among_the_characters_of_a_class_does_not_end_it(rules: Rules) -> None:
    rules.cause("c")
    pattern = r"regex: ['link \[[^\]\n]{1,20}\] of that card is slow']"
    rules.points("link", "the link of that card was found slow", "c", more=pattern)
    assert [o.rule for o in find(rules, "link [up] of that card is slow")] == ["link"]


def test_source_code_that_quotes_a_message_is_not_the_message(rules: Rules) -> None:
    rules.cause("c")
    rules.points("forked", "Cannot re-initialize CUDA in forked subprocess", "c")
    text = (
        "Traceback (most recent call last):\n"
        '  File "/x/torch/cuda/__init__.py", line 3, in _lazy_init\n'
        '    raise RuntimeError("Cannot re-initialize CUDA in forked subprocess")\n'
        "RuntimeError: Found no NVIDIA driver on your system."
    )
    assert not find(rules, text)
    assert find(
        rules, text.replace("Found no NVIDIA driver on your system.", "Cannot re-initialize CUDA in forked subprocess")
    )


def test_numbers_stand_for_codes(rules: Rules) -> None:
    rules.cause("c")
    rules.file(
        "codes/cudart.yaml",
        """
library: cudart
title: codes
numbered: ['CUDA failure {:code(cudart)}:']
worded: ['CUDA error: {:text(cudart)}']
source: tests
read: 2026-11-20
codes:
  - {name: cudaErrorInsufficientDriver, number: '35', texts: [driver version is insufficient], meaning: m, points_to: [{cause: c, strength: strong}]}
  - {name: cudaErrorUnknown, number: '999', numbers: {'CUDA 9': '30'}, texts: [unknown error], meaning: m}
""",
    )
    assert [o.rule for o in find(rules, "CUDA failure 35: oh")] == ["cudaErrorInsufficientDriver"]
    assert [o.rule for o in find(rules, "CUDA failure 30: oh")] == ["cudaErrorUnknown"]
    assert [o.rule for o in find(rules, "CUDA failure 0X23: oh")] == ["cudaErrorInsufficientDriver"]
    assert [o.rule for o in find(rules, "CUDA failure 36: oh")] == []
    assert [o.rule for o in find(rules, "RuntimeError: CUDA error: unknown error\nmore")] == ["cudaErrorUnknown"]
    assert [o.rule for o in find(rules, "an unknown error")] == []


def test_a_code_is_not_meant_on_a_line_that_its_library_leaves_out(rules: Rules) -> None:
    rules.file(
        "codes/exitcodes.yaml",
        """
library: exitcodes
title: signals
unless: [Checking for]
numbered: ['exit code {:code(exitcodes)}']
source: tests
read: 2026-11-20
codes:
  - {name: SIGUSR1, number: '138', meaning: m}
""",
    )
    assert [o.rule for o in find(rules, "Got signal SIGUSR1")] == ["SIGUSR1"]
    assert [o.rule for o in find(rules, "-- Checking for SIGUSR1")] == []
    assert "SIGUSR1" in [o.rule for o in find(rules, "ended with exit code 138")]
    assert [o.rule for o in find(rules, "-- Checking for exit code 138")] == []


CALLS = """
shapes:
  - 'CALL{=:|}{=failed|error}{=:|}{=with code|}NUMBER'
  - 'error NUMBER in CALL'
source: tests
read: 2026-11-20
"""


def test_what_a_named_function_returned_is_known_by_shapes_that_all_libraries_share(rules: Rules) -> None:
    rules.cause("c")
    rules.file("calls.yaml", CALLS)
    for library, name in (("frob", "frobOpen"), ("grub", "grubDig")):
        rules.file(
            f"codes/{library}.yaml",
            f"{{library: {library}, title: t, calls: [{name}], source: s, read: 2026-11-20,"
            f" codes: [{{name: {library.upper()}_OLD, number: '35', meaning: m, points_to: [{{cause: c, strength: strong}}]}}]}}",
        )
    for text in (
        "frobOpen failed: 35",
        "frobOpenMany(&x, 1) failed with code 35",
        "CHECK(frobOpen(x)) failed 35",
        "frobOpen : error 35",
        "error 35 in frobOpen()",
    ):
        assert [o.rule for o in find(rules, text)] == ["FROB_OLD"], text
    assert [o.rule for o in find(rules, "grubDig failed 35")] == ["GRUB_OLD"]
    for text in ("frobOpen failed: 36", "frobClose failed: 35", "frobOpen called 35 times", "refrobOpen failed: 35"):
        assert not find(rules, text), text


@pytest.mark.parametrize(
    "damaged",
    [
        LINE.replace("runtime", "runtxme").replace("compiled", "compi1ed"),
        LINE.replace("but source was compiled", "but the source was compiled"),
        LINE.replace("Loaded runtime", "Loaded the runtime"),
    ],
)
def test_damaged_and_reworded_messages_are_found_by_likeness(loaded: Rules, damaged: str) -> None:
    (found,) = find(loaded, damaged, fuzzy=True)
    assert found.rule == "loaded-older"
    assert found.match == "fuzzy"
    assert {c.name: str(c.value) for c in found.captures} == {"cudnn.loaded": "8.0.5", "cudnn.compiled": "8.1.0"}


def test_likeness_heeds_unless(rules: Rules) -> None:
    rules.facts()
    rules.cause("c")
    rules.points("gone", "CUDA initialization failed on this machine", "c", more="unless: ['by intention']")
    assert find(rules, "error: CUDA initializaton failed on this machine", fuzzy=True)
    assert not find(rules, "error: CUDA initializaton failed on this machine, by intention", fuzzy=True)


def test_likeness_never_crosses_a_status_name_or_number(rules: Rules) -> None:
    rules.facts()
    rules.cause("c")
    rules.points("cublas", "the call returned the status EXECUTION_FAILED_CUBLAS on the current stream", "c")
    rules.points("ready", "CUDA initialization failed on this machine with error 802 just now", "c")
    assert find(rules, "the call retxrned the status EXECUTION_FAILED_CUBLAS on the current stream", fuzzy=True)
    assert not find(rules, "the call returned the status EXECUTION_FAILED_CUDART on the current stream", fuzzy=True)
    assert find(rules, "error: CUDA initializaton failed on this machine with error 802 just now", fuzzy=True)
    assert not find(rules, "error: CUDA initializaton failed on this machine with error 804 just now", fuzzy=True)


@pytest.mark.parametrize("other", ["cudaErrorInvalidPtx in kernel.cu", "cudaErrorInvalidPcPointer in kernel.cu"])
def test_a_status_name_in_one_word_is_not_taken_for_its_neighbour(rules: Rules, other: str) -> None:
    rules.facts()
    rules.cause("c")
    rules.points("pc", "error: cudaErrorInvalidPc", "c")
    rows = "\n".join(
        f"  - {{name: {n}, number: '{i}', meaning: m, points_to: [{{cause: c, strength: likely}}]}}"
        for i, n in enumerate(["cudaErrorInvalidPtx", "cudaErrorInvalidPcPointer", "cudaErrorInvalidPc"])
    )
    rules.file("codes/lib.yaml", f"library: lib\ntitle: t\nsource: tests\nread: 2026-11-20\ncodes:\n{rows}\n")
    assert "pc" not in {o.rule for o in find(rules, f"error: {other}", fuzzy=True)}


def test_likeness_never_blurs_a_count_a_negation_or_a_word_of_the_field(rules: Rules) -> None:
    rules.facts()
    rules.cause("c")
    rules.points("none", "Num CUDA devices Available on this host: 0", "c")
    rules.points("no-net", "NET/Socket : no interface could be found for cuda traffic", "c")
    rules.points("config", "Cuda Configuration Error in the build file of this project", "c")
    for text in (
        "Num CUDA devces Available on this host: 4\nerror 0 0 0",
        "NET/Socket : interface could be found for cuda traffic",
        "Configuration Error in the build file of this project",
    ):
        assert not find(rules, text, fuzzy=True)
    assert find(rules, "Num CUDA devces Available on this host: 0", fuzzy=True)


def test_a_damaged_status_name_is_read_only_if_it_can_be_one_name(rules: Rules) -> None:
    rules.facts()
    rules.cause("c")
    rows = "\n".join(
        f"  - {{name: {n}, number: '{i}', meaning: m, points_to: [{{cause: c, strength: likely}}]}}"
        for i, n in enumerate(["LIB_STATUS_NOT_INITIALIZED", "LIB_STATUS_WIDTH_A", "LIB_STATUS_WIDTH_B"])
    )
    rules.file("codes/lib.yaml", f"library: lib\ntitle: t\nsource: tests\nread: 2026-11-20\ncodes:\n{rows}\n")
    assert [o.rule for o in find(rules, "error: LIB_STATUS_NOT_INITIALIZXD", fuzzy=True)] == [
        "LIB_STATUS_NOT_INITIALIZED"
    ]
    assert not find(rules, "error: LIB_STATUS_WIDTH_X", fuzzy=True)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=400), st.text(max_size=200))
def test_any_text_around_a_message_leaves_it_found(loaded: Rules, before: str, after: str) -> None:
    lines = [*before.splitlines(), "", LINE, "", *after.splitlines()]
    rows = [Line(line, number, 0, 0) for number, line in enumerate(lines, 1)]
    matcher = Matcher(loaded.knowledge())
    found = matcher.find(Stream(rows, ()), parse(rows))
    assert [o.rule for o in found] == ["loaded-older"]


@pytest.mark.parametrize(
    ("pattern", "line", "matches"),
    [
        ("the gizmo\u2019?s core is gone", "the gizmos core is gone", True),  # a letter beyond ASCII, left out
        ("gizmo[:\uff1a] gone", "gizmo: gone", True),
        ("gizmo[^\u2019]gone", "gizmo-gone", True),
        ("gizmo (?:verloren|\u4e22\u5931|perdu)", "gizmo perdu", True),
        ("gizmo (?:\u4e22\u5931|\u5b8c)", "gizmo perdu", False),
        ("gizmo (?:\u4e22\u5931|\u5b8c)", "gizmo \u4e22\u5931", True),
        (
            "gizmo (?:verloren|\u041f\u041e\u0422\u0415\u0420\u042f\u041d)",
            "gizmo \u043f\u043e\u0442\u0435\u0440\u044f\u043d",
            True,
        ),  # in lower case
        (r"gizmo\x{4e22}?: gone", "gizmo: gone", True),  # told by its number
        ("gizmo .\u00e9. gone", "gizmo L\u00c9! gone", True),  # one letter alone
    ],
)
def test_letters_beyond_ascii_in_patterns(rules: Rules, pattern: str, line: str, matches: bool) -> None:
    rules.cause("c")
    rules.points("lost", "that card was lost for good", "c", more=f"regex: ['{pattern}']")
    assert [o.rule for o in find(rules, line)] == ["lost"] * matches


CORPUS = Path(__file__).resolve().parents[1] / "corpus"


@cache
def corpus_lines() -> list[str]:
    texts = (path.read_text(errors="replace") for path in sorted(CORPUS.rglob("*.log"))[::9])
    return sorted({line for text in texts for line in text.split("\n") if len(line) < 500})


@cache
def triager() -> Triager:
    return Triager(load())


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(0, 1 << 30), min_size=1, max_size=60), st.booleans())
def test_looking_ahead_yields_the_facts_and_messages_that_a_try_at_every_hit_yields(
    rows: list[int], wide: bool
) -> None:
    text = "\n".join(corpus_lines()[row % len(corpus_lines())] for row in rows) + ("\n\u2713 é" if wide else "")
    log = read(text.encode())[0]
    lines = clean(log)
    structure = parse(lines)
    marks = triager().knowledge.field_marks
    ahead = triager()._matcher.find(Stream(lines, marks), structure)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_EASY", -1)  # no text is short enough to look ahead in
        patch.setattr(matching, "_EASY_WIDE", -1)
        patch.setattr(matching, "_PATIENCE", -1)  # nor is any hunt given up
        every = triager()._matcher.find(Stream(lines, marks), structure)
    speaking = [o for o in every if matching.speaks(triager().knowledge.by_id[o.rule])]
    assert [o for o in ahead if o in speaking] == speaking
    assert {(o.rule, c.name, str(c.value)) for o in ahead for c in o.captures} == {
        (o.rule, c.name, str(c.value)) for o in every for c in o.captures
    }
    assert {o.rule for o in ahead} == {o.rule for o in every}


@pytest.mark.parametrize("patience", [1, 3])
def test_a_long_log_is_searched_as_a_whole_where_hits_are_tried_in_vain(patience: int) -> None:
    text = "\n".join(corpus_lines()[:: 97 * patience]) * 2
    lines = clean(read(text.encode("ascii", "ignore"))[0])
    structure = parse(lines)
    found = []
    for hits in (patience, -1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(matching, "_EASY", -1)
            patch.setattr(matching, "_PATIENCE", hits)
            stream = Stream(lines, triager().knowledge.field_marks)
            found.append(triager()._matcher.find(stream, structure))
    speaking = [[o for o in some if matching.speaks(triager().knowledge.by_id[o.rule])] for some in found]
    assert speaking[0] == speaking[1]
    assert {o.rule for o in found[0]} == {o.rule for o in found[1]}


def test_many_messages_beside_letters_beyond_ascii_take_little_time(rules: Rules) -> None:
    """RE2 is given such a text encoded anew for each search."""
    rules.cause("c")
    rules.points("frob", "frob is gone", "c", more="unless: [honestly]\n")
    text = "\n".join(["\u256e frob is gone, honestly"] * 4500 + ["frob is gone"])
    before = time.process_time()
    assert [o.first for o in find(rules, text)] == [4500]
    assert time.process_time() - before < 2


LETTERS = st.text(alphabet="abcd", min_size=1, max_size=30)


@settings(max_examples=300)
@given(st.lists(LETTERS, min_size=1, max_size=3), LETTERS, LETTERS)
def test_what_is_called_too_far_is_never_a_match(parts: list[str], before: str, after: str) -> None:
    for text in (before + "".join(parts) + after, before + parts[0][1:] + after, "".join(parts)[:-1]):
        if _align(parts, text)[0] >= _THRESHOLD:
            assert not _too_far(parts, {first + second for first, second in pairwise(text)})


@settings(max_examples=300)
@given(LETTERS, LETTERS, LETTERS)
def test_a_part_that_stands_in_a_text_once_lies_where_alignment_puts_it(part: str, before: str, after: str) -> None:
    from rapidfuzz import fuzz

    text = before + part + after
    found = fuzz.partial_ratio_alignment(part, text)
    assert found is not None
    if text.find(part) == text.rfind(part):
        assert _nearest(part, text) == (found.score, found.dest_start, found.dest_end)
