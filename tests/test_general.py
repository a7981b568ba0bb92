"""What no rule knows is read in general terms, and only then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import Rules
from cudnn_triage.engine import triage
from cudnn_triage.general import GeneralReader
from cudnn_triage.knowledge.base import load
from cudnn_triage.knowledge.patterns import needed_words
from cudnn_triage.ranking import DEFAULTS

CORPUS = Path(__file__).resolve().parents[1] / "corpus"

GENERAL = """
id: general-gone
title: Some gizmo is gone
regex: ['gizmo[^\\n]{0,40}(?:gone|lost)']
points_to: [{cause: gizmo-gone, strength: likely}]
in: unexplained
examples: [the gizmo is gone]
near_misses: [the gizmo is here]
source: tests
read: 2026-11-20
"""
FAILED = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nRuntimeError: '


@pytest.fixture
def general(rules: Rules) -> Rules:
    rules.file("facts/words.yaml", "area: words\nfield_words: [gpu]\nerror_words: [error]\n")
    rules.cause("gizmo-gone")
    rules.cause("known")
    rules.file("signatures/general/general-gone.yaml", GENERAL)
    return rules


def causes(rules: Rules, text: str) -> list[str]:
    return [d.cause for d in triage(text, knowledge=rules.knowledge()).diagnoses]


def test_a_failure_that_no_rule_knows_is_read_in_general_terms(general: Rules) -> None:
    report = triage(f"{FAILED}my gizmo seems lost", knowledge=general.knowledge())
    assert [d.cause for d in report.diagnoses] == ["gizmo-gone"]
    assert [(e.match, e.line, e.text) for e in report.diagnoses[0].evidence] == [
        ("fuzzy", 4, "RuntimeError: my gizmo seems lost")
    ]


def test_where_a_rule_knows_the_cause_general_terms_say_nothing(general: Rules) -> None:
    general.points("special", "the widget does not turn", "known", "likely")
    assert causes(general, f"the widget does not turn\n{FAILED}my gizmo seems lost") == ["known"]


def test_in_a_failed_log_only_the_failure_is_read(general: Rules) -> None:
    assert causes(general, f"gpu error: a gizmo is lost, going on\n{FAILED}something else") == []


def test_a_catch_all_outside_the_field_does_not_count_as_knowing(general: Rules) -> None:
    general.cause("elsewhere", family="benign", severity="fatal")
    general.points("vague", "No such file", "elsewhere", "possible", more="catch_all: true")
    assert causes(general, f"{FAILED}No such file: gizmo is gone") == ["gizmo-gone"]


ELSEWHERE = "".join(f"12:00:0{n} tram {n} waits at the depot\n" for n in range(7))


def test_a_log_of_another_field_is_not_read_in_general_terms(general: Rules) -> None:
    general.file("facts/names.yaml", "area: names\nfield_names: [torchlet]\n")
    lost = f"{FAILED}my gizmo seems lost"
    assert causes(general, ELSEWHERE + lost) == []
    assert causes(general, ELSEWHERE + "the GPU is warm\n" + lost) == ["gizmo-gone"]
    assert causes(general, ELSEWHERE + "import torchlet\n" + lost) == ["gizmo-gone"]
    assert causes(general, lost) == ["gizmo-gone"]  # brief: pasted for what it says


def test_where_the_failure_does_not_say_why_the_lines_above_it_are_read(general: Rules) -> None:
    assert causes(general, "gpu error: a gizmo is lost\nAborted (core dumped)") == ["gizmo-gone"]
    assert causes(general, "a gizmo is lost\nAborted (core dumped)") == []


def test_without_a_failure_lines_that_look_like_errors_of_this_field_are_read(general: Rules) -> None:
    assert causes(general, "gpu error: a gizmo is lost") == ["gizmo-gone"]
    assert causes(general, "one\ntwo\nthree\nfour\nfive\nsix\na gizmo is lost") == []


def test_the_caller_that_a_logger_names_is_no_word_of_its_message(general: Rules) -> None:
    before = "one\ntwo\nthree\nfour\nfive\nsix\n"
    assert causes(general, f'{before}level=WARN source=gpu.go:12 msg="error: a gizmo is lost"') == []
    assert causes(general, f'{before}level=WARN source=run.go:12 msg="gpu error: a gizmo is lost"') == ["gizmo-gone"]
    assert causes(general, f'{before}level=WARN source=gizmo.go:7 msg="gpu error: all is lost"') == []


def test_a_faint_reading_of_an_error_that_no_rule_knows_is_told(general: Rules) -> None:
    general.file("signatures/general/general-gone.yaml", GENERAL.replace("strength: likely", "strength: weak"))
    assert causes(general, "gpu error: a gizmo is lost") == ["gizmo-gone"]
    general.points("special", "gpu error: a widget is lost", "known", "weak")
    assert causes(general, "gpu error: a widget is lost") == []


def test_in_a_whole_file_in_which_nothing_failed_a_general_reading_is_believed_by_half(general: Rules) -> None:
    line, around = "gpu error: a gizmo is lost", "\n".join(f"step {i}" for i in range(50))
    knowledge = general.knowledge()
    (pasted,) = triage(line, knowledge=knowledge).diagnoses
    (whole,) = triage(f"{around}\n{line}", knowledge=knowledge).diagnoses
    assert (pasted.cause, whole.cause) == ("gizmo-gone", "gizmo-gone")
    assert whole.confidence == pytest.approx(pasted.confidence / 2, abs=0.01)
    (failed,) = triage(f"{around}\n{line}\nAborted (core dumped)", knowledge=knowledge).diagnoses
    assert failed.confidence == pytest.approx(pasted.confidence, abs=0.01)


def test_unless_holds_for_general_signatures_too(general: Rules) -> None:
    general.file(
        "signatures/general/general-gone.yaml", GENERAL.replace("in: unexplained", "in: unexplained\nunless: [toy]")
    )
    assert causes(general, f"{FAILED}my toy gizmo seems lost") == []


def test_what_is_read_in_general_terms_is_never_believed_much(general: Rules) -> None:
    general.file(
        "weights.yaml", "temperature: 0.3\n"
    )  # so sharp that a message which is known would count for nearly all
    both = f"{FAILED}my gizmo seems lost on a GPU\n{FAILED}another gizmo is gone"
    (said,) = triage(both, knowledge=general.knowledge()).diagnoses
    assert 0.5 < said.confidence <= DEFAULTS["general"]


def test_of_causes_read_in_general_terms_the_likelier_is_believed_more(general: Rules) -> None:
    general.cause("asleep")
    general.file("weights.yaml", "temperature: 0.3\n")
    both = "[{cause: asleep, strength: strong, odds: 0.3}, {cause: gizmo-gone, strength: strong}]"
    general.file(
        "signatures/general/general-gone.yaml", GENERAL.replace("[{cause: gizmo-gone, strength: likely}]", both)
    )
    first, second = triage(f"{FAILED}my gizmo seems lost", knowledge=general.knowledge()).diagnoses
    assert (first.cause, second.cause) == ("gizmo-gone", "asleep")
    assert first.confidence > 1.5 * second.confidence


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"gizmo[^\n]{0,40}(?:gone|lost)", [["gizmo"], ["gone", "lost"]]),
        (r"(?:no )?driver", [["driver"]]),
        (r"\b(?:gpu|a)\b lost", [[" lost"]]),
        (r"cann?ot (?:find|load)", [["find", "load"], ["can"], ["ot "]]),
        (r"[a-z]+", []),
        (r"(?<broken", []),
    ],
)
def test_the_words_that_a_pattern_needs(pattern: str, words: list[list[str]]) -> None:
    assert needed_words(pattern) == words


def test_no_general_pattern_matches_a_line_without_its_words() -> None:
    templates = GeneralReader(load())._templates
    lines = {
        line[:500]
        for path in sorted(CORPUS.rglob("*.log"))[::5]
        for line in path.read_text(errors="replace").split("\n")
    }
    chosen = [line for line in sorted(lines) if re.search("error|fail|not|no |miss", line, re.IGNORECASE)]
    assert len(chosen) > 200
    for general in templates:
        for line in chosen:
            folded = line.casefold()
            if not all(any(word in folded for word in words) for words in general.words):
                assert general.pattern.search(line) is None


def test_a_match_that_speaks_for_nothing_leaves_the_line_to_general_terms(general: Rules) -> None:
    general.facts(gizmo__size="int")
    general.signature(
        "sized", "my gizmo seems", more="points_to: [{cause: known, strength: likely, when: gizmo.size > 3}]"
    )
    assert causes(general, f"{FAILED}my gizmo seems lost") == ["gizmo-gone"]


def test_each_line_of_a_very_short_log_is_read(general: Rules) -> None:
    assert causes(general, "my gizmo seems lost") == ["gizmo-gone"]
    assert causes(general, "one\ntwo\nthree\nfour\nfive\nsix\nmy gizmo seems lost") == []


def test_above_a_traceback_without_its_end_the_lines_are_read(general: Rules) -> None:
    cut = FAILED.removesuffix("RuntimeError: ")
    assert causes(general, f"gpu error: a gizmo is lost\n{cut}") == ["gizmo-gone"]
    assert causes(general, f"gpu error: a gizmo is lost\n{FAILED}something else") == []


def test_above_a_tools_word_that_says_nothing_the_lines_are_read(general: Rules) -> None:
    assert causes(general, "gpu error: a gizmo is lost\nError: it was not built") == ["gizmo-gone"]
    assert causes(general, "gpu error: a gizmo is lost\nError: no gpu in the box") == []


def test_at_last_all_that_reads_like_an_error_is_read(general: Rules) -> None:
    chatter = "gpu 1\ntwo\nthree\nfour\nfive\nsix\n"
    assert causes(general, f"{chatter}error: my gizmo seems lost") == ["gizmo-gone"]
    assert causes(general, f"{chatter}[ERROR] my gizmo seems lost") == ["gizmo-gone"]
    assert causes(general, f"{chatter}my gizmo seems lost") == []
    assert causes(general, f"{chatter}gpu error: another\nerror: my gizmo seems lost") == ["gizmo-gone"]
    assert causes(general, f"{chatter}an error of which /home/gizmo/ is lost") == []


def test_a_remark_about_speed_does_not_keep_general_terms_away(general: Rules) -> None:
    general.cause("slow", family="benign", severity="degraded")
    general.points("slowly", "this is slow", "slow", "strong", more="survived: true")
    assert "gizmo-gone" in causes(general, f"this is slow\n{FAILED}my gizmo seems lost")


def test_a_catch_all_in_general_terms_counts_where_it_is_alone(general: Rules) -> None:
    vague = GENERAL.replace("general-gone", "general-vague").replace("gizmo-gone", "known").replace("gizmo[", "my [")
    general.file("signatures/general/general-vague.yaml", vague + "catch_all: true\n")
    assert causes(general, f"{FAILED}my gizmo seems lost") == ["gizmo-gone"]
    assert causes(general, f"{FAILED}my widget seems lost") == ["known"]
