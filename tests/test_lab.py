"""The laboratory's own promises: its faults name known causes, can be told apart from one another, and touch only their clones."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("the laboratory runs on Linux", allow_module_level=True)

from cudnn_triage.knowledge.base import load
from lab import capture, needs, runner
from lab.environments import ENVIRONMENTS, GIVEN, SMALL, Cache, Missing
from lab.fault import RUNS, Fault, names
from lab.fault import load as load_fault
from lab.world import PROGRAMS, clone

FAULTS = [load_fault(name) for name in names()]
KNOWLEDGE = load()


def on_gpu(fault: Fault) -> bool:
    return bool({"gpu", "torch-gpu"} & {*fault.needs})


def test_there_are_enough_faults_with_and_without_a_gpu() -> None:
    broken = [fault for fault in FAULTS if fault.cause]
    assert sum(not on_gpu(fault) for fault in broken) >= 25
    assert sum(on_gpu(fault) for fault in broken) >= 20


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_names_what_exists(fault: Fault) -> None:
    causes = {fault.cause, *fault.acceptable, fault.afterwards} - {None, RUNS, "other"}
    assert causes <= KNOWLEDGE.causes.keys()
    assert fault.environment == GIVEN or fault.environment in ENVIRONMENTS
    assert {*fault.needs} <= needs._CHECKS.keys()
    assert on_gpu(fault) == (fault.environment == GIVEN)
    for word in fault.program:
        if word.endswith((".py", ".cu")):
            assert (PROGRAMS / word).is_file()
    if fault.cause and fault.cause != "framework-bug":
        assert fault.mended, "what mends it, or why nothing does"


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.cause], ids=lambda fault: fault.id)
def test_what_a_reading_can_settle_has_a_condition_that_confirms(fault: Fault) -> None:
    assert fault.cause
    assert not fault.settled or KNOWLEDGE.causes[fault.cause]["confirm"]


def test_ci_needs_only_the_small_environments() -> None:
    chosen = [fault for fault in FAULTS if fault.ci]
    assert {"torch-cpu", "tf-cpu"} <= {fault.environment for fault in chosen} <= {*SMALL}
    assert any(fault.cause is None for fault in chosen)


def test_a_clone_can_be_broken_without_touching_the_original(tmp_path: Path) -> None:
    original = tmp_path / "env"
    (original / "lib").mkdir(parents=True)
    (original / "lib" / "libx.so.1").write_bytes(b"whole")
    os.symlink("libx.so.1", original / "lib" / "libx.so")
    clone(original, tmp_path / "copy")
    path = tmp_path / "copy" / "lib" / "libx.so.1"
    assert path.read_bytes() == b"whole"
    assert os.readlink(tmp_path / "copy" / "lib" / "libx.so") == "libx.so.1"
    path.unlink()
    path.write_bytes(b"broken")
    assert (original / "lib" / "libx.so.1").read_bytes() == b"whole"


def test_an_environment_that_is_not_allowed_is_missing_not_made(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="torch-cuda"):
        Cache(tmp_path, SMALL).environment("torch-cuda")


def verdict(**more: object) -> runner.Verdict:
    return runner.Verdict(**{"fault": "f", "breaks": "b", "cause": "driver-not-loaded", **more})  # type: ignore[arg-type]


def test_a_wrong_first_cause_a_missing_confirmation_and_a_refuted_truth_are_all_reported() -> None:
    fault = load_fault("no-driver")
    right = verdict(first="driver-not-loaded", confirmed=["driver-not-loaded"])
    runner._judge(fault, right)
    assert right.named
    assert not right.wrong
    wrong = verdict(first="cpu-only-build", refuted=["driver-not-loaded"])
    runner._judge(fault, wrong)
    assert wrong.wrong == ["cpu-only-build was named first", "not confirmed", "the truth was refuted"]


def test_a_diagnosis_of_a_healthy_environment_is_reported() -> None:
    fault = load_fault("healthy-torch")
    right, wrong = verdict(cause=None, first="not-gpu-related"), verdict(cause=None, first="cpu-only-build")
    runner._judge(fault, right)
    runner._judge(fault, wrong)
    assert not right.wrong
    assert wrong.wrong


def test_the_summary_counts_only_what_was_tried() -> None:
    seen = [
        verdict(
            first="driver-not-loaded", named=True, status="confirmed", afterwards=RUNS, verify="gone", as_expected=True
        ),
        verdict(skipped="needs an NVIDIA GPU"),
    ]
    lines = list(runner.table(seen))
    assert "skipped: needs an NVIDIA GPU" in lines[2]
    assert lines[-1].startswith(
        "1 tried, 1 skipped. Of 1 faults 1 named first, 1 of these confirmed; 0 refuted wrongly; 1 mended, 1 of these verified as gone."
    )


def test_a_log_is_written_without_this_machines_paths_and_its_label_keeps_the_first_answer(tmp_path: Path) -> None:
    fault = load_fault("no-driver")
    cache, scratch = tmp_path / "cache", tmp_path / "cache" / "scratch"
    log = f'File "{scratch}/no-driver/env/lib/python3.11/site-packages/torch/x.py"\n{cache}/wheels/a\n{Path.home()}/b\n'
    for first in ("driver-not-loaded", "gpu-not-visible"):
        examined = runner.Examination(verdict(fault="no-driver", log_first=first, log_confidence=0.9), log)
        capture.write(tmp_path / "logs", fault, examined, cache, scratch)
    written = (tmp_path / "logs" / "no-driver.log").read_text()
    assert (
        written
        == 'File "/home/dev/venv/lib/python3.11/site-packages/torch/x.py"\n/home/dev/.cache/lab/wheels/a\n/home/dev/b\n'
    )
    label = (tmp_path / "logs" / "no-driver.yaml").read_text()
    assert "said: driver-not-loaded" in label
    assert "gold:\n- driver-not-loaded" in label
