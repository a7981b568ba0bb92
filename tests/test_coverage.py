"""The coverage loop: which lines of this field no rule explains, which rules never fire, which fire on healthy logs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Rules
from cudnn_triage.cli import main
from cudnn_triage.engine import Triager
from cudnn_triage.evaluation.coverage import coverage, coverage_data, folded, print_coverage
from cudnn_triage.evaluation.labelled import Labelled
from cudnn_triage.knowledge.yamlfile import Problem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cuda error 700 at step 12", "cuda error 2 at step 99"),
        ("CUDA failure in /home/a/x.py", "cuda   failure in /data/b/y.py"),
        (r"cannot load C:\py\cudnn64_8.dll", r"cannot load D:\other\cudnn64_9.dll"),
        ("bad address 0x7f00aa at gpu", "bad address 0x12 at gpu"),
        ("model 'resnet' failed on gpu", 'model "bert" failed on gpu'),
        ("2026-11-20 10:11:12.5 gpu failed", "2025-01-02 03:04:05.25 gpu failed"),
        ("get https://a.example/x?y=1 failed", "get http://b.example/ failed"),
        ("job 3f2504e0-4f89-41d3-9a0c-0305e82c3301 failed", "job 11111111-2222-3333-4444-555555555555 failed"),
        ("commit 3f2504e failed", "commit 9a0c0305e82c failed"),
        ("login ann@node1 failed", "login bob@host.example failed"),
        ("driver 535.104.05 failed", "driver 470.57 failed"),
    ],
)
def test_lines_that_differ_in_what_varies_are_one(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cuda error in kernel", "cudnn error in kernel"),
        ("CUDNN_STATUS_BAD_PARAM", "CUDNN_STATUS_NOT_SUPPORTED"),
        ("could not load model", "could not load weights"),
        ("dead beef failed", "fade cafe failed"),
    ],
)
def test_lines_that_say_different_things_stay_apart(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@given(st.text(max_size=200))
def test_folding_takes_any_text_and_gives_one_line(text: str) -> None:
    assert "\n" not in folded(text)
    assert folded(text) == folded(text.upper().lower() if text.isascii() else text)


@pytest.fixture
def triager(rules: Rules) -> Triager:
    rules.facts()
    rules.cause("no-cheese")
    rules.cause("not-gpu-related", family="benign")
    rules.points("out-of-cheese", "the cuda frob is out of cheese", "no-cheese", "certain")
    rules.points("cheese-smells", "the cuda frob failed to smell cheese", "no-cheese", "weak")
    rules.points("never-printed", "the cuda frob failed in a way nobody saw", "no-cheese")
    return rules.triager()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.log").write_text(
        "step 1\ncuda widget 7 failed\nthe cuda frob is out of cheese\ncuda widget 9 failed\n", encoding="utf-8"
    )
    (folder / "deep" / "b.txt").write_text("cuda widget 12 failed\ngpu gadget '/x/y' failed\n", encoding="utf-8")
    (folder / "c.yaml").write_text(
        "gold: []\nlog: |\n  the cuda frob failed to smell cheese\n  all done\n", encoding="utf-8"
    )
    (folder / "d.log").write_text("the cuda frob is out of cheese\n", encoding="utf-8")
    (folder / "d.yaml").write_text("gold: [not-gpu-related]\n", encoding="utf-8")
    (folder / "settings.yaml").write_text("cuda: failed\n", encoding="utf-8")
    (folder / "README.md").write_text("cuda nonsense failed\n", encoding="utf-8")
    (folder / "broken.log.gz").write_bytes(b"\x1f\x8b\x08nothing")
    return folder


def test_lines_nobody_explains_come_with_counts_and_places_most_frequent_first(triager: Triager, logs: Path) -> None:
    found = coverage([logs], triager)
    assert found.logs == 4  # labelled and not; no label, settings file or page counts as a log
    first, second = found.unexplained
    assert (first.pattern, first.logs, first.lines, first.undiagnosed) == ("cuda widget <n> failed", 2, 3, 1)
    assert (first.text, first.place) == ("cuda widget 7 failed", "a.log:2")
    assert first.places == ("a.log:2", "deep/b.txt:1")
    assert (second.pattern, second.logs) == ("gpu gadget <name> failed", 1)
    assert len(found.unread) == 1
    assert "broken.log.gz" in found.unread[0]


def test_rules_that_never_fire_are_named(triager: Triager, logs: Path) -> None:
    assert coverage([logs], triager).never == ("never-printed",)


def test_rules_that_fire_on_healthy_logs_are_named_with_the_logs(triager: Triager, logs: Path) -> None:
    found = coverage([logs], triager)
    assert found.healthy == 2
    assert [(hit.rule, hit.strength, hit.alarms, hit.logs) for hit in found.on_healthy] == [
        ("out-of-cheese", "certain", 1, ("d",)),
        ("cheese-smells", "weak", 0, ("c",)),
    ]


def test_a_cause_that_the_label_accepts_is_no_hit(triager: Triager, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        "gold: []\nacceptable: [no-cheese]\nlog: the cuda frob is out of cheese\n", encoding="utf-8"
    )
    assert coverage([tmp_path], triager).on_healthy == ()


def test_a_wrong_label_is_an_error(triager: Triager, logs: Path) -> None:
    (logs / "bad.yaml").write_text("gold: [a]\n", encoding="utf-8")
    with pytest.raises(Problem, match="no log"):
        coverage([logs], triager)


def test_the_text_masks_secrets_and_control_characters(triager: Triager, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(
        "cuda failed \x1b[31m token=hf_abcdefghijklmnopqrstuvwxyz0123\x07\n", encoding="utf-8"
    )
    found = coverage([tmp_path], triager)
    out = io.StringIO()
    print_coverage(found, out, 10)
    assert "cuda failed" in out.getvalue()
    for text in (out.getvalue(), json.dumps(coverage_data(found))):
        assert "abcdefghijklmnop" not in text
        assert "\x1b" not in text
        assert "\\u001b" not in text


def test_the_command_prints_text_and_writes_json(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (logs / "broken.log.gz").unlink()
    (logs / "d.yaml").write_text("gold: []\n", encoding="utf-8")
    file = tmp_path / "out.json"
    assert main(["eval", "--unexplained", str(logs), "--top", "1", "--json", str(file)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("4 logs, 2 of them labelled as healthy")
    assert "      2            2      3  a.log:2\n         cuda widget 7 failed\n" in text
    assert "more (--top N, --json FILE)" in text
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data["unexplained"][0]["pattern"] == "cuda widget <n> failed"
    assert len(data["unexplained"]) > 1
    assert len(data["never_fired"]) > 1000
    assert main(["eval", "--unexplained", str(logs), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["unexplained"] == data["unexplained"]


def test_the_figures_of_an_evaluation_are_written_as_json(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = logs / "labelled"
    folder.mkdir()
    for i in range(6):
        (folder / f"{i}.yaml").write_text(
            f"gold: []\nsource: https://example/{i}\nlog: '2024-05-0{i + 1} epoch {i} done'\n", encoding="utf-8"
        )
    assert main(["eval", str(folder), "--no-perturb", "--no-baseline", "--json", "-"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["rows"]["cross-validated"]["fair1"] == 1.0
    assert data["said"] == [{"gold": "nothing", "said": "nothing", "logs": 6, "fair": 6}]
    assert data["years"]["today"] == [{"year": 2024, "logs": 6, "strict1": 1.0, "fair1": 1.0}]


@pytest.mark.parametrize(
    ("log", "source", "year"),
    [
        ("2019-03-04 10:00:00 x\n2019/03/05 y\nreleased 2024-01-01", "https://x", 2019),
        ("Wed Jun  2 12:34:56 2021 +---", "https://x", 2021),
        ("Jul 5, 2022 x", "https://x", 2022),
        ("cuda 2018 error 2030-99-99", "https://x", None),
        ("2019-03-04 10:00:00 x", "produced with torch 2.0 on 2026-11-20", None),
    ],
)
def test_the_year_of_a_log_is_the_one_its_time_stamps_show(log: str, source: str, year: int | None) -> None:
    assert Labelled("x", log.encode(), (), (), "g", source=source).year == year
