"""Measuring: labelled folders, perturbations, figures, folds and cross-validation, fitting, look-alikes, the command."""

from __future__ import annotations

import html
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Rules
from cudnn_triage.cli import main
from cudnn_triage.engine import Triager
from cudnn_triage.evaluation.baseline import baselines
from cudnn_triage.evaluation.command import evaluate
from cudnn_triage.evaluation.fitting import FOLDS, Drawn, fit, folds, loss, losses
from cudnn_triage.evaluation.labelled import Labelled, Recorded, read_folder
from cudnn_triage.evaluation.measure import Fitted, answers, cross_validated, examine, fold_numbers, harmless_causes
from cudnn_triage.evaluation.metrics import (
    Answer,
    answer,
    calibration_error,
    confusion,
    figures,
    off_field_cause,
    reliability,
)
from cudnn_triage.evaluation.perturb import PERTURBATIONS
from cudnn_triage.knowledge.base import Knowledge
from cudnn_triage.knowledge.yamlfile import Problem
from cudnn_triage.ranking import DEFAULTS
from cudnn_triage.reading import read


def case(name: str = "x", log: str = "", gold: str = "", acceptable: str = "") -> Labelled:
    return Labelled(name, log.encode(), tuple(gold.split()), tuple(acceptable.split()), "g")


# ---- labelled logs


def test_a_log_beside_its_label(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.log").write_bytes(b"\xff raw \r\n")
    (tmp_path / "sub" / "one.yaml").write_text("gold: [a, b]\nacceptable: [c]\nwhy: w\n", encoding="utf-8")
    (tmp_path / "two.log").write_bytes(b"fine")
    (tmp_path / "two.yaml").write_text("gold: []\n", encoding="utf-8")
    assert read_folder(tmp_path) == [
        Labelled("sub/one", b"\xff raw \r\n", ("a", "b"), ("c",), "sub"),
        Labelled("two", b"fine", (), (), tmp_path.name),
    ]


def test_a_label_that_holds_its_log(tmp_path: Path) -> None:
    (tmp_path / "x-001.yaml").write_text(
        "id: x-001\ngold: [a]\nacceptable: []\nlog: |\n  first line\n    second: é\n", encoding="utf-8"
    )
    (one,) = read_folder(tmp_path)
    assert one.log.decode() == "first line\n  second: é\n"
    assert (one.id, one.gold, one.acceptable) == ("x-001", ("a",), ())


def test_the_year_is_the_label_s_else_that_of_the_time_stamps(tmp_path: Path) -> None:
    log = "log: '2019-04-11 14:19:56.948126: E failed'\nsource: https://a.example/1\n"
    (tmp_path / "a.yaml").write_text(f"gold: [a]\n{log}", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(f"gold: [a]\nyear: 2018\n{log}", encoding="utf-8")
    assert [item.year for item in read_folder(tmp_path)] == [2019, 2018]
    (tmp_path / "b.yaml").write_text(f"gold: [a]\nyear: last\n{log}", encoding="utf-8")
    with pytest.raises(Problem, match="such as 2021"):
        read_folder(tmp_path)


def test_the_first_blind_answer_is_kept_where_it_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("gold: [a]\nlog: x\nblind: {said: b, date: 2026-11-20}\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text("gold: [a]\nlog: x\n", encoding="utf-8")
    assert [item.blind for item in read_folder(tmp_path)] == [Recorded(("b",), 0.0, "2026-11-20"), None]


def test_what_an_expert_said_of_a_log_stands_beside_the_tools_first_answer(small: Rules, tmp_path: Path) -> None:
    """Of two logs the tool named one and the expert the other; of a third, in which nothing is wrong, both said nothing."""
    answers = {
        "a": "gold: [empty]\nblind: {said: [empty], confidence: '0.9'}\nexpert: {said: [broken], confidence: '0.6'}\n",
        "b": "gold: [empty]\nblind: {said: [broken, empty], confidence: '0.9'}\nexpert: {said: [empty], confidence: '0.6'}\n",
        "c": "gold: []\nblind: {said: [nothing]}\nexpert: {said: [nothing]}\n",
    }
    (tmp_path / "logs").mkdir()
    for name, text in answers.items():
        (tmp_path / "logs" / f"{name}.yaml").write_text(f"{text}log: x\n", encoding="utf-8")
    out = io.StringIO()
    evaluate([tmp_path / "logs"], small.triager(), out, perturb=False, baseline=False, details=False)
    rows = {line[:22].strip(): line[22:].split() for line in out.getvalue().splitlines()}
    assert rows["... where experts read"][:3] == ["0.667", "0.667", "1.000"]
    assert rows["... these experts"][:3] == ["0.667", "0.667", "0.667"]


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("why: w\n", 1, "needs 'gold'"),
        ("- gold\n", 1, "needs 'gold'"),
        ("why: w\ngold: a\nlog: x\n", 2, "expected a list"),
        ("gold: [a]\n", 1, "no log"),
        ("gold: [a]\nlog: [x]\n", 2, "no log"),
        ("gold: [a]\ngold: [b]\nlog: x\n", 2, "twice"),
        ("gold: [a\n", 1, "not valid YAML"),
        (f"gold: {'[' * 900}{']' * 900}\n", 0, "too deep"),
        ("gold: [a]\nlog: x\nblind: a\n", 3, "best first"),
        ("gold: [a]\nlog: x\nexpert: {date: 2026-11-29}\n", 3, "best first"),
        ("gold: [a]\nlog: x\nblind: {said: a}\nexpert: {said: [a]}\n", 4, "compared"),
    ],
)
def test_a_label_that_cannot_be_used_is_named(tmp_path: Path, text: str, line: int, told: str) -> None:
    (tmp_path / "bad.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Problem) as error:
        read_folder(tmp_path)
    assert error.value.file == str(tmp_path / "bad.yaml")
    assert abs(error.value.line - line) <= (told == "not valid YAML")
    assert told in error.value.message


def test_a_folder_without_labels_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "only.log").write_bytes(b"x")
    with pytest.raises(Problem, match="no labelled logs"):
        read_folder(tmp_path)


# ---- perturbations


LOG = "".join(f"line {i} of a log with <tags> & 'quotes' {'long ' * (i % 40)}\n" for i in range(200)) + "the last line"


def unwrapped(text: str) -> str:
    return text.replace("\n", "")


UNDO: dict[str, Callable[[str], str]] = {
    "wrapped": unwrapped,
    "ci-prefix": lambda text: "\n".join(line.partition("Z ")[2] for line in text.split("\n")),
    "compose": lambda text: "\n".join(line.partition("\x1b[0m")[2] for line in text.split("\n")),
    "quoted": lambda text: "\n".join(line[2:] for line in text.split("\n")),
    "entities": html.unescape,
    "one-line": lambda text: text,
    "two-ranks": lambda text: "\n".join(
        line.removeprefix("[rank1]: ") for line in text.split("\n") if line.startswith("[rank1]: ")
    ),
}


@pytest.mark.parametrize("name", UNDO)
def test_a_perturbation_loses_nothing(name: str) -> None:
    wanted = {"wrapped": unwrapped(LOG), "one-line": LOG.replace("\n", " ")}.get(name, LOG)
    assert UNDO[name](PERTURBATIONS[name](LOG)) == wanted


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_a_perturbation_is_the_same_every_time_and_changes_something(name: str) -> None:
    change = PERTURBATIONS[name]
    assert change(LOG) == change(LOG) != LOG
    assert isinstance(change(""), str)


def test_wrapped_lines_have_at_most_80_columns() -> None:
    assert max(map(len, PERTURBATIONS["wrapped"](LOG).split("\n"))) == 80


def test_one_line_is_one_line() -> None:
    assert "\n" not in PERTURBATIONS["one-line"](LOG)


def test_two_ranks_print_every_line_once_each() -> None:
    lines = PERTURBATIONS["two-ranks"]("a\nb").split("\n")
    assert lines == ["[rank0]: a", "[rank1]: a", "[rank0]: b", "[rank1]: b"]


def test_buried_is_in_the_middle_of_2000_other_lines() -> None:
    buried = PERTURBATIONS["buried"](LOG)
    before, _, after = buried.partition(LOG)
    assert before.count("\n") == after.count("\n") == 1000
    assert before.strip() != after.strip()


def test_noise_changes_one_visible_character_in_a_hundred() -> None:
    text = LOG * 10
    noisy = PERTURBATIONS["noise"](text)
    assert len(noisy) == len(text)
    visible = [(a, b) for a, b in zip(text, noisy, strict=True) if not a.isspace()]
    assert all(a == b for a, b in zip(text, noisy, strict=True) if a.isspace())
    assert 0.007 < sum(a != b for a, b in visible) / len(visible) < 0.013


def test_time_stamps_of_ci_are_read_as_such() -> None:
    from cudnn_triage.cleaning import clean

    lines = clean(read(PERTURBATIONS["ci-prefix"]("one thing\nanother thing").encode(), "x")[0])
    assert [line.text for line in lines] == ["one thing", "another thing"]


# ---- figures


@pytest.fixture
def small(rules: Rules) -> Rules:
    """Two causes of the field, one harmless one, and the one that stands for other failures."""
    rules.facts()
    for name in ("empty", "broken"):
        rules.cause(name)
    rules.cause("chatter", family="benign", severity="benign")
    rules.cause(
        "other",
        family="benign",
        more="evidence: [{when: failure.explained == no and failure.vocabulary == no, strength: strong, why: w}]",
    )
    rules.points("empty-strong", "the frob is out of cheese", "empty", "strong")
    rules.points("broken-strong", "the frob fell off the table", "broken", "strong")
    rules.signature(
        "both",
        "the frob does not answer",
        more="points_to: [{cause: empty, strength: likely}, {cause: broken, strength: possible}]",
    )
    rules.points("hum", "the frob hums a tune", "chatter", "certain", more="survived: true")
    return rules


@pytest.fixture
def knowledge(small: Rules) -> Knowledge:
    return small.knowledge()


def test_strict_fair_and_gold_among_three() -> None:
    labelled = case(gold="a b", acceptable="c")
    expected = {
        ("a",): (True, True, True),
        ("b", "c"): (True, True, True),
        ("c", "x", "a"): (False, True, True),
        ("c", "x", "y", "a"): (False, True, False),
        ("x", "a"): (False, False, True),
        (): (False, False, False),
    }
    for ranked, (strict, fair, gold3) in expected.items():
        given = Answer(labelled, ranked, 0.9 if ranked else None)
        assert (given.strict, given.fair, given.gold3) == (strict, fair, gold3), ranked


def test_where_nothing_is_wrong_any_diagnosis_is_wrong() -> None:
    for ranked, confidence, right in (
        ((), None, True),
        (("chatter",), None, True),
        (("other",), None, True),
        (("a",), 0.3, False),
    ):
        given = Answer(case(), ranked, confidence)
        assert (given.strict, given.fair, given.gold3) == (right, right, right)
    assert Answer(case(acceptable="a"), ("a",), 0.7).fair
    assert not Answer(case(acceptable="a"), ("a",), 0.7).strict


def test_figures_of_hand_made_answers(knowledge: Knowledge) -> None:
    given = [
        Answer(case(gold="empty"), ("empty", "broken"), 0.9),
        Answer(case(gold="empty", acceptable="broken"), ("broken", "empty"), 0.6),
        Answer(case(gold="empty"), ("broken",), 0.8),
        Answer(case(gold="other"), ("other",), None),
        Answer(case(gold="chatter"), ("empty",), 0.7),
        Answer(case(gold="chatter"), ("empty",), 0.49),
        Answer(case(), ("broken",), 0.5),
        Answer(case(), (), None),
        Answer(case(gold="other", acceptable="empty"), ("empty",), 0.99),
    ]
    found = figures(given, knowledge)
    assert found.count == 9
    assert found.strict1 == pytest.approx(3 / 9)
    assert found.fair1 == pytest.approx(5 / 9)
    assert found.gold3 == pytest.approx(4 / 9)
    assert found.harmless == 6
    assert [a.confidence for a in found.alarms] == [0.7, 0.5]  # wrong, sure enough, and on a harmless log
    assert sum(n for _, _, n in found.reliability) == 7  # answers without a diagnosis claim nothing


def test_no_answers_at_all(knowledge: Knowledge) -> None:
    found = figures([], knowledge)
    assert (found.count, found.fair1, found.ece, found.alarms) == (0, 0, 0, ())


def test_calibration_error() -> None:
    calibrated = [(p / 20, i < p) for p in range(1, 20, 2) for i in range(20)]
    assert calibration_error(calibrated) == pytest.approx(0, abs=1e-9)
    overconfident = [(0.95, i % 2 == 0) for i in range(100)]
    assert calibration_error(overconfident) == pytest.approx(0.45)
    underconfident = [(0.25, True)] * 10
    assert calibration_error(underconfident) == pytest.approx(0.75)
    assert calibration_error([(1.0, True)] * 5) == 0
    assert calibration_error([]) == 0


def test_errors_in_opposite_directions_do_not_cancel_out() -> None:
    assert calibration_error([(0.95, False)] * 10 + [(0.05, True)] * 10) == pytest.approx(0.95)


def test_reliability_is_by_tenths() -> None:
    assert reliability([(0.61, True), (0.69, False), (1.0, True), (0.0, False)]) == [
        (0.0, 0.0, 1),
        (pytest.approx(0.65), 0.5, 2),
        (1.0, 1.0, 1),
    ]


def test_confusions_are_counted_and_fair_answers_left_out() -> None:
    given = [
        Answer(case(gold="a"), ("b",), 0.9),
        Answer(case(gold="a"), ("b",), 0.7),
        Answer(case(gold="a", acceptable="b"), ("b",), 0.7),
        Answer(case(gold="a"), (), None),
        Answer(case(), ("b",), 0.9),
    ]
    assert confusion(given) == [("a", "b", 2), ("a", "nothing", 1), ("nothing", "b", 1)]


def test_a_report_is_read_as_an_answer(small: Rules) -> None:
    triager = small.triager()
    off = off_field_cause(triager.knowledge)
    assert off == "other"

    def said(text: str) -> Answer:
        return answer(case(), triager.triage(read(text.encode(), "x")[0]), off)

    found = said("the frob hums a tune\nthe frob is out of cheese")
    assert (found.first, found.ranked[-1]) == ("empty", "chatter")
    assert found.confidence is not None
    assert found.confidence > 0.6
    assert (said("the frob hums a tune").ranked, said("the frob hums a tune").confidence) == (("chatter",), None)
    failed = said('Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: 3\n')
    assert (failed.first, failed.confidence) == ("other", None)
    assert (said("").ranked, said("").first) == ((), "nothing")


# ---- folds, fitting, cross-validation


BOTH, EMPTY, BROKEN = "the frob does not answer", "the frob is out of cheese", "the frob fell off the table"


@pytest.fixture
def labelled() -> list[Labelled]:
    """Logs whose common message is labelled against its written strength, so that fitting has something to learn."""
    return [
        *(case(f"b{i}", f"step {i}\n{BOTH}\n{EMPTY}", "broken") for i in range(4)),
        *(case(f"o{i}", f"run {i}\n{BOTH}", "empty", "broken") for i in range(6)),
        *(case(f"e{i}", f"run {i}\n{EMPTY}", "empty") for i in range(6)),
        *(case(f"t{i}", f"day {i}\n{BROKEN}", "broken") for i in range(6)),
        *(case(f"n{i}", f"epoch {i}\nthe frob hums a tune", "chatter") for i in range(3)),
        *(case(f"h{i}", f"epoch {i} done") for i in range(2)),
    ]


def drawn_from(triager: Triager, labelled: list[Labelled]) -> list[Drawn]:
    examined = examine(triager, labelled)
    return [Drawn(item, found.evidence) for item, (_, found) in zip(labelled, examined, strict=True)]


@pytest.mark.parametrize("count", [0, 1, 4, 5, 23, 100])
def test_folds_hold_every_case_once_and_are_alike_in_size(count: int) -> None:
    dealt = folds([case(str(i)) for i in range(count)])
    assert len(dealt) == FOLDS
    assert sorted(i for fold in dealt for i in fold) == list(range(count))
    assert max(map(len, dealt)) - min(map(len, dealt)) <= 1
    assert dealt == folds([case(str(i)) for i in range(count)])


def test_folds_do_not_keep_neighbours_together() -> None:
    dealt = folds([case(str(i)) for i in range(100)])
    assert all(max(fold) - min(fold) > 50 for fold in dealt)


def test_fitting_is_deterministic_lowers_the_loss_and_keeps_the_order_of_the_words(
    small: Rules, labelled: list[Labelled]
) -> None:
    triager = small.triager()
    drawn, harmless = drawn_from(triager, labelled), harmless_causes(triager)
    assert harmless == {"chatter", "other"}
    fitted = fit(drawn, triager.knowledge.competing, harmless)
    assert fitted == fit(drawn, triager.knowledge.competing, harmless)
    assert fitted.keys() == DEFAULTS.keys()
    before, after = (
        loss(losses(drawn, numbers, triager.knowledge.competing, harmless), numbers) for numbers in (DEFAULTS, fitted)
    )
    assert after < before - 0.01
    words = [fitted[word] for word in ("certain", "strong", "likely", "possible", "weak")]
    assert words == sorted(words, reverse=True)
    assert min(words) > 0
    assert fitted["again"] <= 1
    assert fitted["notice"] <= fitted["plain"]


def test_numbers_without_data_stay_at_their_defaults(small: Rules) -> None:
    triager = small.triager()
    assert fit([], triager.knowledge.competing, harmless_causes(triager)) == DEFAULTS


def test_confidence_is_set_by_blind_answers_where_there_are_enough(small: Rules) -> None:
    """Three blind answers in four were right, so the tool may not say more than that on average."""
    triager = small.triager()
    seen = [replace(case(f"{i}", EMPTY, "empty"), blind=Recorded(("empty" if i % 4 else "broken",))) for i in range(24)]
    weights = fit(drawn_from(triager, seen), triager.knowledge.competing, harmless_causes(triager))
    given = answers(triager, seen, examine(triager, seen), weights)
    assert sum(a.confidence or 0 for a in given) / 24 == pytest.approx(0.75, abs=0.01)
    few = fit(drawn_from(triager, seen[:12]), triager.knowledge.competing, harmless_causes(triager))
    assert (answers(triager, seen[:1], examine(triager, seen[:1]), few)[0].confidence or 0) > 0.9


def test_old_blind_answers_do_not_hold_confidence_down(small: Rules) -> None:
    """What worse rules got wrong long ago says nothing where a thousand newer first answers are known."""
    triager = small.triager()
    old = [replace(case(f"o{i}", EMPTY, "empty"), blind=Recorded(("broken",), date="2020-01-01")) for i in range(50)]
    new = [
        replace(case(f"n{i}", EMPTY, "empty"), blind=Recorded(("empty" if i % 10 else "broken",), date="2021-01-01"))
        for i in range(1000)
    ]
    weights = fit(drawn_from(triager, old + new), triager.knowledge.competing, harmless_causes(triager))
    given = answers(triager, new[:1], examine(triager, new[:1]), weights)
    assert given[0].confidence == pytest.approx(0.9, abs=0.01)


def test_loss_rewards_gold_fully_and_acceptable_in_part(small: Rules) -> None:
    triager = small.triager()
    harmless = harmless_causes(triager)

    def cost(text: str = EMPTY, **label: str) -> float:
        (only,) = losses(
            drawn_from(triager, [case("x", text, **label)]), DEFAULTS, triager.knowledge.competing, harmless
        )
        return only

    assert cost(gold="empty") < cost(gold="broken", acceptable="empty") < cost(gold="broken")
    assert cost("epoch 1 done") < cost(gold="")


def test_the_numbers_for_a_fold_do_not_depend_on_its_labels(small: Rules, labelled: list[Labelled]) -> None:
    triager = small.triager()
    before = fold_numbers(triager, labelled, examine(triager, labelled))
    assert len(before) == FOLDS
    assert len({tuple(fitted.numbers.values()) for fitted in before}) > 1
    changed = False
    for k, fold in enumerate(folds(labelled)):
        swap = {"empty": ("broken",), "broken": ("empty",)}
        twisted = [
            replace(item, gold=swap.get("".join(item.gold), item.gold), acceptable=()) if i in fold else item
            for i, item in enumerate(labelled)
        ]
        after = fold_numbers(triager, twisted, examine(triager, twisted))
        assert after[k].numbers == before[k].numbers
        changed |= [one.numbers for one in after] != [one.numbers for one in before]
    assert changed  # the labels do matter to the other folds


def test_each_case_is_judged_with_the_numbers_of_its_own_fold(small: Rules, labelled: list[Labelled]) -> None:
    """Fold by fold the temperature differs, so a confidence tells with which numbers it was computed."""
    triager = small.triager()
    examined = examine(triager, labelled)
    weights = [{**DEFAULTS, "temperature": 1 + k / 10} for k in range(FOLDS)]
    found = cross_validated(triager, labelled, examined, [Fitted(numbers, None) for numbers in weights])
    assert [a.case for a in found] == labelled
    alone = [answers(triager, labelled, examined, numbers) for numbers in weights]
    assert len({row[labelled.index(next(c for c in labelled if c.id == "e0"))].confidence for row in alone}) == FOLDS
    for k, fold in enumerate(folds(labelled)):
        for i in fold:
            assert found[i] == alone[k][i]


def test_perturbed_logs_are_changed_before_they_are_read(small: Rules) -> None:
    triager = small.triager()
    labelled = [case("x", f"a\n{EMPTY}", "empty")]
    (plain,), (changed,) = examine(triager, labelled), examine(triager, labelled, PERTURBATIONS["two-ranks"])
    assert len(plain[1].occurrences) == 1
    assert len(changed[1].occurrences) == 2
    assert {line.rank for line in changed[1].lines} != {""}
    assert answers(triager, labelled, [changed])[0].strict


# ---- the look-alikes and the command


def test_look_alikes_learn_from_the_other_folds_only() -> None:
    pytest.importorskip("sklearn")
    alike = [case(f"{name}{i}", f"{word} failed again and {word} again", name) for name, word in
             (("a", "alpha"), ("b", "bravo")) for i in range(10)]  # fmt: skip
    only = [case(f"u{i}", f"unique{i} word{i}", f"cause{i}") for i in range(5)]
    found = baselines([*alike, *only])
    assert set(found) == {"nearest neighbour", "logistic regression"}
    for guesses in found.values():
        assert [g.case for g in guesses] == [*alike, *only]
        assert all(g.strict for g in guesses[:20])
        assert not any(g.strict for g in guesses[20:])  # a label that stands in one fold only cannot be learnt
        assert all(g.confidence is not None and 0 <= g.confidence <= 1 for g in guesses)


def test_the_text_of_the_figures(small: Rules, labelled: list[Labelled], tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for item in labelled:
        (corpus / f"{item.id}.log").write_bytes(item.log)
        label = f"gold: [{', '.join(item.gold)}]\nacceptable: [{', '.join(item.acceptable)}]\n"
        (corpus / f"{item.id}.yaml").write_text(label, encoding="utf-8")
    out = io.StringIO()
    found, perturbed = evaluate([corpus], small.triager(), out, perturb=True, baseline=False, details=True)
    told = out.getvalue()
    assert found.count == len(labelled)
    assert list(perturbed) == list(PERTURBATIONS)
    assert told.startswith(f"{len(labelled)} logs;")
    rows = {line.split("  ")[0].strip() for line in told.splitlines()}
    assert {"cross-validated", "with shipped numbers", *PERTURBATIONS} <= rows
    assert f"{found.fair1:.3f}" in told
    assert "empty" in told.partition("not fair")[2]  # b0..b3 are labelled against what they say


@pytest.fixture
def folder(tmp_path: Path) -> str:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for i in range(6):
        (corpus / f"{i}.log").write_text(f"epoch {i} done\n", encoding="utf-8")
        (corpus / f"{i}.yaml").write_text("gold: []\n", encoding="utf-8")
    return str(corpus)


@pytest.mark.parametrize(
    ("option", "value", "code", "told"),
    [
        ("--min-fair", "1.1", 1, "fair@1 1.000 is below 1.1"),
        ("--min-fair", "1.0", 0, ""),
        ("--max-ece", "-0.1", 1, "ECE 0.000 is above -0.1"),
        ("--max-ece", "0", 0, ""),
        ("--max-alarms", "-1", 1, "0 false alarms"),
        ("--max-alarms", "0", 0, ""),
    ],
)
def test_the_command_fails_where_a_figure_misses_its_bound(
    folder: str, option: str, value: str, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", folder, "--no-perturb", "--no-baseline", option, value]) == code
    output = capsys.readouterr()
    assert output.out.startswith("6 logs;")
    assert "wrapped" not in output.out
    assert told in output.err
    assert bool(output.err) == bool(told)


@pytest.mark.parametrize(("most", "code"), [("0", 0), ("-0.1", 1)])
def test_the_command_fails_where_a_perturbation_costs_too_much(
    folder: str, most: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", folder, "--no-baseline", "--max-drop", most]) == code
    told = capsys.readouterr().err
    assert [name for name in PERTURBATIONS if f"{name} costs 0.000 of fair@1" in told] == (
        list(PERTURBATIONS) if code else []
    )


def test_a_bound_on_perturbed_runs_needs_them(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["eval", folder, "--no-perturb", "--max-drop", "0.03"])
    assert "--max-drop needs the perturbed runs" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["eval"], ["fit"], ["fit", "--hunches"]])
def test_a_label_that_names_no_cause_is_told_with_the_nearest_one(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text("nothing here\n")
    (tmp_path / "a.yaml").write_text("gold: [not-gpu-related]\nacceptable: [cudnn-notfound]\n")
    assert main([*command, str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "a.yaml: no cause 'cudnn-notfound'" in told
    assert "cudnn-not-found" in told


def test_the_command_names_a_label_it_cannot_read(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(folder, "3.yaml").write_text("why: no gold\n", encoding="utf-8")
    assert main(["eval", folder]) == 2
    assert "3.yaml:1: a label needs 'gold'" in capsys.readouterr().err


def test_the_fit_command_prints_numbers_that_the_rules_take(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", folder]) == 0
    rules = Rules(tmp_path / "own")
    rules.facts()
    rules.file("weights.yaml", capsys.readouterr().out)
    assert rules.knowledge().weights.keys() == DEFAULTS.keys()
