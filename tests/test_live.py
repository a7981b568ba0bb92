"""Logs that are still being written: --tee and --follow, and the batch call."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from cudnn_triage import ReadError, triage, triage_all
from cudnn_triage.engine import Triager
from cudnn_triage.live import Tee, follow
from cudnn_triage.progress import Progress
from cudnn_triage.report import Report

ROOT = Path(__file__).resolve().parents[1]
OOM = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
MISSING = "ImportError: libcudnn.so.8: cannot open shared object file: No such file or directory\n"


def command(*options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "cudnn_triage", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )


def test_tee_passes_everything_through_before_the_input_ends() -> None:
    with command("--tee", "--format", "json") as run:
        assert run.stdin
        assert run.stdout
        for piece in (b"\x1b[31mred\xff\r\n", OOM.encode(), b"no line end"):
            run.stdin.write(piece)
            run.stdin.flush()
            assert run.stdout.read(len(piece)) == piece  # waits for it: the pipe would hang if anything were held up
        run.stdin.close()
        assert json.loads(run.stdout.read())["diagnoses"][0]["cause"] == "gpu-out-of-memory"
        assert run.wait() == 0


def test_the_answer_stands_apart_from_what_was_passed_through() -> None:
    with command("--tee") as run:
        out, _ = run.communicate(OOM.encode())
    assert out.startswith(OOM.encode().rstrip(b"\n") + b"\n\n")


def test_tee_reads_on_when_its_reader_has_gone() -> None:
    class Gone(io.BytesIO):
        def write(self, _data: object, /) -> int:
            raise BrokenPipeError

    source = Tee(io.BytesIO(b"a" * 100_000), Gone())
    pieces = iter(lambda: source.read(0), b"")
    assert sum(map(len, pieces)) == 100_000


def test_follow_tells_a_diagnosis_before_the_input_ends_and_what_became_of_it() -> None:
    with command("--follow", "--format", "json") as run:
        assert run.stdin
        assert run.stdout
        run.stdin.write(b"starting\n" + OOM.encode())
        run.stdin.flush()
        first = json.loads(run.stdout.readline())
        assert first["diagnoses"][0]["cause"] == "gpu-out-of-memory"
        run.stdin.write(b"restarting\n")
        run.stdin.close()
        last = json.loads(run.stdout.read())
        assert last["input"]["lines"] == 3
        assert run.wait() == 0


def test_follow_tells_again_when_the_diagnosis_changes() -> None:
    reading, writing = os.pipe()
    told: list[str] = []
    news = threading.Event()

    def tell(report: Report) -> None:
        told.append(report.diagnoses[0].cause)
        news.set()

    def write(text: str) -> None:
        news.clear()
        os.write(writing, text.encode())
        assert news.wait(60)

    source: BinaryIO = os.fdopen(reading, "rb", buffering=0)
    thread = threading.Thread(target=follow, args=(source, "log", Triager(), tell))
    thread.start()
    write(OOM)
    os.write(writing, b"epoch 1\n" * 10)
    time.sleep(0.1)
    write(MISSING * 3 + "Traceback (most recent call last):\n  File 'x.py', line 1\n" + MISSING)
    os.close(writing)
    thread.join(60)
    assert told[0] == "gpu-out-of-memory"
    assert len(told) == len(dict.fromkeys(told)) >= 2


@pytest.mark.parametrize("option", ["--tee", "--follow"])
def test_live_options_are_for_standard_input(option: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cudnn_triage", option, "train.log"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 2
    assert "standard input" in done.stderr


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_on_a_terminal_only_and_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    screen, file = Screen(), io.StringIO()
    for stream in (screen, file):
        clock[0] = 100.0
        progress = Progress(stream)
        progress(1_000_000)
        assert stream.getvalue() == ""
        clock[0] = 102.0
        progress(500_000_000)
        progress.done()
    assert "500 MB read, 250 MB/s" in screen.getvalue()
    assert screen.getvalue().endswith("\r")
    assert file.getvalue() == ""


LOGS = [OOM, MISSING, "all is well\n", OOM.encode(), ""]


def test_a_batch_gives_each_log_its_report_in_order() -> None:
    assert list(triage_all(LOGS)) == [triage(log) for log in LOGS]


def test_a_batch_in_two_processes_gives_the_same() -> None:
    assert list(triage_all(LOGS * 4, processes=2)) == [triage(log) for log in LOGS] * 4


def test_a_batch_takes_logs_as_reports_are_asked_for() -> None:
    taken: list[int] = []

    def endless() -> object:
        while True:
            taken.append(1)
            yield OOM

    reports = triage_all(endless())  # type: ignore[arg-type]
    assert next(reports).verdict == "diagnosed"
    assert len(taken) == 1


@pytest.mark.parametrize("processes", [0, "2"])
def test_a_batch_needs_a_process(processes: int) -> None:
    with pytest.raises(ValueError, match=f"processes={processes!r}: expected a number, 1 or more"):
        next(triage_all([], processes=processes))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_batch_goes_on_behind_what_is_no_log_if_it_is_told_to(processes: int) -> None:
    image = b"\x89PNG\r\n\x1a\n" + bytes(100)
    with pytest.raises(ReadError):
        list(triage_all([OOM, image, OOM], processes=processes))
    found = list(triage_all([OOM, image, OOM], processes=processes, unreadable="yield"))
    assert [type(item) for item in found] == [Report, ReadError, Report]
    with pytest.raises(ValueError, match="unreadable='skip'"):
        next(triage_all([OOM], unreadable="skip"))  # type: ignore[call-overload]


def test_eight_threads_give_the_same_answers() -> None:
    from concurrent.futures import ThreadPoolExecutor

    triager = Triager()
    logs = [text if isinstance(text, str) else text.decode() for text in LOGS] * 8
    alone = [triage(log, knowledge=triager.knowledge) for log in logs]
    fresh = Triager(triager.knowledge.__class__(triager.knowledge.packed))
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda log: triage(log, knowledge=fresh.knowledge), logs))
    assert together == alone
