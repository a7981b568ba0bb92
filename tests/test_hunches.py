"""What the words of a log lean towards: where rules leave it open or know nothing, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Rules
from cudnn_triage.cli import main
from cudnn_triage.engine import triage
from cudnn_triage.evaluation.labelled import Labelled
from cudnn_triage.evaluation.learning import CannotLearn, as_rules, learn
from cudnn_triage.knowledge.base import KnowledgeError
from cudnn_triage.report import Report

MODEL = """
why: Such words mostly meant this
source: tests
read: 2026-11-20
causes: [left, right, third, off]
base: [0, 0, 0, 0]
words:
  - ["flange", '3 0:9 1:-9']
  - ["sprocket", '3 1:9 0:-9']
  - ["gasket", '3 2:9']
  - ["kitchen", '3 3:9']
  - ["bracket", '3 1:1']
  - ["widget", '1']
"""
KETTLE = "points_to: [{cause: off, strength: likely}]\n"
FAILED = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nRuntimeError: '


@pytest.fixture
def words(rules: Rules) -> Rules:
    """A message that may mean either of two causes, a third cause without any, and a model of words."""
    for name in ("left", "right", "third"):
        rules.cause(name)
    rules.cause("off", family="benign", severity="fatal")
    rules.cause("chatter", family="benign", severity="benign")
    rules.facts()
    more = "points_to: [{cause: left, strength: likely}, {cause: right, strength: likely}]\n"
    rules.signature("stopped", "the widget stopped", more=more)
    rules.file("hunches.yaml", MODEL)
    return rules


def said(rules: Rules, text: str) -> Report:
    return triage(text, knowledge=rules.knowledge())


def causes(rules: Rules, text: str) -> list[str]:
    return [d.cause for d in said(rules, text).diagnoses]


def test_words_decide_between_causes_that_a_message_leaves_open(words: Rules) -> None:
    assert causes(words, f"{FAILED}the widget stopped at the flange")[0] == "left"
    assert causes(words, f"{FAILED}the widget stopped at the sprocket")[0] == "right"


def test_words_do_not_outweigh_what_a_message_says(words: Rules) -> None:
    words.points("clear", "the spring broke", "left", "certain")
    assert causes(words, f"{FAILED}the spring broke at the sprocket")[0] == "left"


def test_words_of_lines_that_tell_nothing_have_no_say(words: Rules) -> None:
    words.points("hello", "hello from the", "chatter", "certain")
    plain = said(words, f"{FAILED}the widget stopped")
    beside = said(words, f"hello from the sprocket\nloading sprocket\n{FAILED}the widget stopped\nINFO:root:sprocket")
    assert [(d.cause, d.confidence) for d in beside.diagnoses] == [(d.cause, d.confidence) for d in plain.diagnoses]


def test_a_further_suspect_stands_behind_and_says_which_words_and_where(words: Rules) -> None:
    report = said(words, f"{FAILED}the widget stopped, gasket flange gone")
    assert report.diagnoses[0].cause == "left"
    (third,) = [d for d in report.diagnoses if d.cause == "third"]
    assert 0 < third.confidence < report.diagnoses[0].confidence
    assert [(e.kind, e.id, e.line, e.text, e.why) for e in third.evidence] == [
        ("fact", "log.words", 4, "log.words = gasket", "Such words mostly meant this")
    ]


def test_behind_a_sure_first_the_others_stand_in_the_order_of_their_words_and_are_not_squeezed_out(
    words: Rules,
) -> None:
    more = "points_to: [{cause: left, strength: certain}, {cause: right, strength: likely}, {cause: third, strength: likely}]\n"
    words.signature("burst", "the boiler burst", more=more)
    for word, order in (("sprocket", ["left", "right", "third"]), ("gasket", ["left", "third", "right"])):
        diagnoses = said(words, f"{FAILED}the boiler burst at the {word}").diagnoses
        assert [d.cause for d in diagnoses] == order
        first, second, third = (d.confidence for d in diagnoses)
        assert first > 0.8
        assert first > second > third > 0
        assert second > 0.1  # though the first leaves it next to nothing


def test_a_cause_that_the_model_never_met_stays_where_the_rules_put_it(words: Rules) -> None:
    words.cause("new")
    words.points("novel", "the cog melted", "new", "likely")
    with_words = said(words, f"{FAILED}the cog melted at the sprocket")
    assert with_words.diagnoses[0].cause == "new"
    (words.folder / "hunches.yaml").unlink()
    without = said(words, f"{FAILED}the cog melted at the sprocket")
    assert with_words.diagnoses[0].confidence == pytest.approx(without.diagnoses[0].confidence, abs=0.05)


def test_an_error_that_no_rule_knows_is_answered_by_its_words_and_believed_little(words: Rules) -> None:
    report = said(words, "cuda error: sprocket lost")
    assert report.verdict == "diagnosed"
    assert report.diagnoses[0].cause == "right"
    assert report.diagnoses[0].confidence < 0.5
    assert [u.text for u in report.unexplained] == ["cuda error: sprocket lost"]


def test_a_log_whose_complaints_rules_know_as_harmless_is_not_answered_by_its_words(words: Rules) -> None:
    for name in ("first", "second"):
        words.points(name, f"{name} sprocket not ready", "chatter", "certain")
    known = "first sprocket not ready\nsecond sprocket not ready\n"
    assert said(words, known).verdict == "benign"
    assert causes(words, f"{known}cuda error: sprocket lost")[0] == "right"  # that one nobody knows


def test_a_failure_of_another_kind_stays_unrelated_unless_the_words_are_sure(words: Rules) -> None:
    words.signature("elsewhere", "the kettle boiled", more=f"{KETTLE}catch_all: true\n")
    assert said(words, f"{FAILED}the kettle boiled in the kitchen").verdict == "unrelated"
    assert said(words, f"{FAILED}the kettle boiled").verdict == "unrelated"
    assert causes(words, f"{FAILED}the kettle boiled on a sprocket")[0] == "right"


def test_a_log_of_which_rules_know_nothing_is_read_whole(words: Rules) -> None:
    words.signature("elsewhere", "the kettle boiled", more=f"{KETTLE}catch_all: true\n")
    assert causes(words, f"loading the sprocket\n{FAILED}the kettle boiled")[0] == "right"
    assert causes(words, f"loading the flange\n{FAILED}the kettle boiled")[0] == "left"


def test_a_long_log_is_read_where_it_complains(words: Rules) -> None:
    words.signature("elsewhere", "the kettle boiled", more=f"{KETTLE}catch_all: true\n")
    quiet = "step on the gpu\n" * 400
    assert causes(words, f"{quiet}loading the sprocket\nerror: the kettle boiled")[0] == "right"
    assert said(words, f"loading the sprocket\n{quiet}error: the kettle boiled").verdict == "unrelated"


def test_words_that_stand_together_tell_more_than_each(words: Rules) -> None:
    words.file("hunches.yaml", MODEL + "  - [\"left sprocket\", '3 0:30']\n")
    assert causes(words, "cuda error: left sprocket gone")[0] == "left"
    assert causes(words, "cuda error: left the sprocket")[0] == "right"
    (told,) = said(words, "cuda error: left sprocket gone").diagnoses[0].evidence
    assert told.text == "log.words = left sprocket"


def test_words_speak_for_a_complaint_that_rules_hardly_heed(words: Rules) -> None:
    weak = "points_to: [{cause: left, strength: weak}, {cause: right, strength: weak}]\n"
    words.signature("creaks", "the hinge creaks", more=weak)
    words.file("weights.yaml", "none: 3\n")
    assert causes(words, "the hinge creaks at the sprocket")[0] == "right"
    assert causes(words, "the hinge creaks") == []


def test_words_say_nothing_against_a_message_that_knows_what_failed_outside_the_field(words: Rules) -> None:
    words.signature("elsewhere", "the kettle boiled", more=KETTLE)
    assert said(words, f"{FAILED}the kettle boiled on a sprocket").verdict == "unrelated"


def test_words_never_accuse_a_run_that_ended_well(words: Rules) -> None:
    turning = "the sprocket of this machine turns by itself for now"
    assert causes(words, turning)[0] == "right"
    assert said(words, f"{turning}\nTraining complete").diagnoses == ()
    assert said(words, f"{turning} in the kitchen").diagnoses == ()


def test_words_say_nothing_in_a_log_of_another_field(words: Rules) -> None:
    tram = "".join(f"12:00:0{n} tram {n} waits at the depot\n" for n in range(7))
    assert said(words, f"{tram}error: sprocket lost").diagnoses == ()
    assert causes(words, f"{tram}error: sprocket of the GPU lost")[0] == "right"


def test_a_command_or_a_word_that_complains_of_nothing_is_no_log(words: Rules) -> None:
    assert said(words, "sprocket").diagnoses == ()
    assert said(words, "sprocket --list sprocket sprocket").diagnoses == ()
    assert causes(words, "sprocket failed")[0] == "right"
    assert said(words, "").verdict == "empty"


def test_words_do_not_bring_back_a_cause_that_a_certain_fact_excludes(words: Rules) -> None:
    words.signature("elsewhere", "the kettle boiled", more=f"{KETTLE}catch_all: true\n")
    assert causes(words, f"{FAILED}the kettle boiled on a sprocket")[0] == "right"
    words.cause("right", more="evidence: [{when: failure.kind == exception, against: certain, why: it never raises}]")
    assert said(words, f"{FAILED}the kettle boiled on a sprocket").verdict == "unrelated"


def test_without_a_model_nothing_changes(words: Rules) -> None:
    (words.folder / "hunches.yaml").unlink()
    assert set(causes(words, f"{FAILED}the widget stopped at the sprocket")) == {"left", "right"}
    assert said(words, "cuda error: sprocket lost").verdict == "unexplained"


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("3 0:9", "3 7:9", "hunches.yaml:8: words[0]: expected a number"),
        ("3 0:9", "3 -1:9", "hunches.yaml:8: words[0]: expected a number"),
        ("3 0:9", "much", "hunches.yaml:8: words[0]: expected a number"),
        ("[0, 0, 0, 0]", "[0, 0]", "hunches.yaml:6: base: expected 4 numbers"),
        ("third, off", "gone, off", "hunches.yaml:5: causes[2]: no cause 'gone'"),
    ],
)
def test_a_broken_model_is_refused_with_its_line(words: Rules, old: str, new: str, where: str) -> None:
    words.file("hunches.yaml", MODEL.replace(old, new))
    with pytest.raises(KnowledgeError) as told:
        words.knowledge()
    assert where in str(told.value)


def labelled(name: str, gold: str) -> Labelled:
    return Labelled(name, b"", (gold,), (), "g")


def test_what_is_learned_is_what_the_logs_had_and_reads_back_as_rules(words: Rules) -> None:
    logs = (
        [({"flange": 1, "hub": 1}, "left")] * 4 + [({"sprocket": 1, "hub": 1}, "right")] * 4 + [({"pan": 1}, "off")] * 4
    )
    found, items = [w for w, _ in logs], [labelled(str(i), gold) for i, (_, gold) in enumerate(logs)]
    model = learn(found, items, words.knowledge())
    assert model == learn(found, items, words.knowledge())
    words.file("hunches.yaml", as_rules(model, len(logs), "2026-11-20"))
    assert causes(words, f"{FAILED}the widget stopped at the sprocket")[0] == "right"
    assert causes(words, f"{FAILED}the widget stopped at the flange")[0] == "left"


@pytest.mark.parametrize("logs", [1, 5])
def test_too_few_logs_teach_nothing(words: Rules, logs: int) -> None:
    with pytest.raises(CannotLearn, match="too few"):
        learn([{"flange": 1}] * logs, [labelled("a", "left")] * logs, words.knowledge())


def test_fit_says_so_where_logs_are_too_few(words: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_text("nothing here\n")
    (folder / "a.yaml").write_text("gold: [not-gpu-related]\n")
    assert main(["fit", "--hunches", str(folder)]) == 2
    assert "too few logs" in capsys.readouterr().err
