"""Long logs: what is read of them, told by the places it has in all of the log, however the bytes arrive."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import zipped
from cudnn_triage import selection, streams
from cudnn_triage.cleaning import clean
from cudnn_triage.engine import Triager, triage
from cudnn_triage.knowledge.base import load
from cudnn_triage.reading import Log, ReadError, read, read_text
from cudnn_triage.report import Report
from cudnn_triage.selection import Selector

ROOT = Path(__file__).resolve().parents[1]
MIB = 1 << 20
ERROR = "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
TRACEBACK = f"""Traceback (most recent call last):
  File "/home/user/train.py", line 42, in <module>
    loss.backward()
  File "/opt/conda/lib/python3.9/site-packages/torch/_tensor.py", line 396, in backward
    torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
{ERROR}
"""


@cache
def shared() -> Triager:
    return Triager(load())


def chatter(size: int, seed: int = 1) -> str:
    """Lines of a run in which nothing is wrong; no two are alike."""
    chance = random.Random(seed)
    lines: list[str] = []
    length = 0
    while length < size:
        lines.append(f"epoch {len(lines)} loss {chance.random():.5f} lr {chance.random():.2e}")
        length += len(lines[-1]) + 1
    return "\n".join(lines) + "\n"


def fed(data: bytes, sizes: Iterator[int] | None = None, name: str = "log") -> Log:
    selector = Selector(shared().knowledge, name)
    at = 0
    while at < len(data):
        size = next(sizes) if sizes else len(data)
        selector.feed(data[at : at + size])
        at += size
    return selector.finish()


def cited(report: Report) -> tuple[str, int, int]:
    item = report.diagnoses[0].evidence[0]
    return item.text, item.line, item.column


def test_a_log_that_is_not_long_is_read_whole() -> None:
    data = chatter(selection.WHOLE - 100).encode()
    assert fed(data).raw == data
    assert fed(data).cuts == ()


def test_an_error_in_the_middle_of_a_long_log_is_found_where_it_stands() -> None:
    text = chatter(MIB) + TRACEBACK + chatter(MIB, 2)
    log = fed(text.encode())
    assert len(log.raw) < len(text) / 4
    report = shared().triage(log)
    line = text[: text.index(ERROR)].count("\n") + 1
    assert cited(report) == (ERROR, line, 15)
    assert (report.input.bytes, report.input.lines) == (len(text), text.count("\n"))


def test_every_line_that_is_read_knows_its_place() -> None:
    lines = (chatter(MIB // 2) + TRACEBACK + chatter(MIB // 2, 2) + TRACEBACK + chatter(MIB // 2, 3)).split("\n")
    raw = "\n".join(lines).encode()
    log = fed(raw)
    assert len(log.cuts) >= 3
    for line in clean(log):
        if line.text.strip():
            number, column = line.place(0)
            assert lines[number - 1][column - 1 :].startswith(line.text)
            assert raw[line.byte(0) :].startswith(line.text.encode())


@settings(max_examples=25)
@given(sizes=st.lists(st.integers(1, 300_000), min_size=1, max_size=6), seed=st.integers(0, 5), ends=st.booleans())
def test_chunks_of_any_size_give_the_same_log(sizes: list[int], seed: int, ends: bool) -> None:
    chance = random.Random(seed)
    parts = [
        chatter(chance.randint(1, 300_000), seed + n) + chance.choice(["", TRACEBACK, ERROR * 3]) for n in range(4)
    ]
    data = "".join(parts).encode() + (b"\n" if ends else b"no end")
    if seed == 5:
        data = data.replace(b"\n", b" ")

    def turns() -> Iterator[int]:
        while True:
            yield from sizes

    assert fed(data, turns()) == fed(data)


def test_a_stream_and_the_whole_give_the_same_report() -> None:
    data = (chatter(MIB) + TRACEBACK + chatter(MIB, 2)).encode()
    whole = triage(data, name="log", redact=False)
    chunks = (data[at : at + 70_001] for at in range(0, len(data), 70_001))
    (log,) = streams.logs(chunks, "log", shared().knowledge)
    assert shared().triage(log).to_json() == whole.to_json()


def test_looking_before_the_end_changes_nothing() -> None:
    data = (chatter(MIB) + TRACEBACK + chatter(MIB, 2) + TRACEBACK).encode()
    selector = Selector(shared().knowledge, "log")
    seen = []
    for at in range(0, len(data), 200_000):
        selector.feed(data[at : at + 200_000])
        seen.append(shared().triage(selector.so_far()).verdict)
    assert seen[0] == "unrelated"
    assert "diagnosed" in seen
    assert selector.finish() == fed(data)


def test_a_line_without_end_is_read_around_what_it_says() -> None:
    text = (chatter(MIB) + ERROR + " " + chatter(MIB, 2)).replace("\n", " ")
    report = shared().triage(fed(text.encode()))
    found, line, column = cited(report)
    assert (line, column) == (1, text.index("cuDNN error") + 1)
    assert "CUDNN_STATUS_NOT_INITIALIZED" in found
    assert report.input.lines == 1


def test_an_error_where_blocks_of_a_line_without_end_meet_is_found() -> None:
    filler = chatter(4 * selection.BLOCK).replace("\n", " ")
    for at in range(3 * selection.BLOCK - len(ERROR), 3 * selection.BLOCK + 8, 7):
        text = filler[:at] + " " + ERROR + " " + filler * 3
        literals = fed(text.encode()).repeats or {}
        assert literals.get("cudnn-error-not-initialized") == 1, at


def test_repeated_messages_are_counted_and_the_first_and_last_are_read() -> None:
    text = "".join(f"{chatter(2000, n)}RuntimeError: CUDA error: out of memory\n" for n in range(2000))
    log = fed(text.encode())
    assert len(log.raw) < 2 * MIB < len(text)
    assert max((log.repeats or {}).values()) == 2000
    numbers = [line.number for line in clean(log) if line.text.startswith("RuntimeError")]
    wanted = [n for n, line in enumerate(text.split("\n"), 1) if line.startswith("RuntimeError")]
    assert (numbers[0], numbers[-1]) == (wanted[0], wanted[-1])
    assert all(before < after for before, after in pairwise(numbers))


def test_harmless_messages_of_a_long_log_are_counted_in_all_of_it() -> None:
    message = "Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered"
    text = "".join(f"{chatter(3000, n)}{message}\n" for n in range(500))
    (item,) = shared().triage(fed(text.encode())).benign
    assert item.count == 500


def test_rare_messages_are_read_though_others_fill_the_log() -> None:
    noise = "".join(f"request {n} failed: invalid input, error {n}\n" for n in range(60_000))
    text = noise + TRACEBACK + noise
    report = shared().triage(fed(text.encode()))
    assert report.diagnoses[0].evidence[0].text == ERROR


def test_memory_is_bounded_where_everything_looks_like_an_error() -> None:
    words = shared().knowledge.literals.words
    text = "\n".join(f"{word} {n}" for n in range(40) for word in words) + "\n"
    log = fed(text.encode("utf-8", "replace") * 4)
    assert len(log.raw) < selection.WHOLE + 2 * selection.MOST


def test_what_built_the_image_is_known_of_a_long_log_too() -> None:
    """Fixes depend on it: the commands have to run in the Dockerfile."""
    text = "".join(f"#9 {at / 10:.1f} {line}\n" for at, line in enumerate((chatter(MIB // 2) + TRACEBACK).splitlines()))
    log = fed(text.encode())
    assert log.cuts
    assert ("log.carrier", "buildkit") in {(fact.name, fact.value) for fact in shared().triage(log).facts}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_wide_encodings(encoding: str) -> None:
    text = chatter(MIB) + TRACEBACK + chatter(MIB, 2)
    (log,) = streams.logs(iter([text.encode(encoding)]), "log", shared().knowledge)
    report = shared().triage(log)
    assert cited(report)[1] == text[: text.index(ERROR)].count("\n") + 1
    assert report.input.encoding.startswith(encoding[:6])


def test_compressed_logs_are_unpacked_as_they_are_read() -> None:
    data = (chatter(MIB) + TRACEBACK + chatter(MIB, 2)).encode()
    (log,) = streams.logs(iter([gzip.compress(data)]), "log", shared().knowledge)
    assert log == fed(data)


def tarred(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "packed", [zipped, tarred, lambda m: gzip.compress(tarred(m)), lambda m: zipped({"in.zip": zipped(m)})]
)
@pytest.mark.parametrize("size", [1000, MIB])
def test_the_files_of_an_archive_are_read_as_they_would_be_alone(
    packed: Callable[[dict[str, bytes]], bytes], size: int
) -> None:
    long = (chatter(MIB) + TRACEBACK + chatter(MIB, 2)).encode()
    members = {
        "10_test.txt": long,
        "2_build.txt": TRACEBACK.encode(),
        "2_more.txt.gz": gzip.compress(long),
        "shot.png": b"\x89PNG\r\n\x1a\n" + bytes(50),
        "core": bytes(5000),
        "rows.json": b"\n".join(json.dumps({"log": row}).encode() for row in TRACEBACK.split("\n")),
    }
    data = packed(members)
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    found = streams.logs(chunks, "logs", shared().knowledge)
    whole = [selection.selected(log, shared().knowledge) for log in read(data, "logs")]
    assert len(found) == 4
    assert [(log.name, log.raw, log.text, log.cuts) for log in found] == [
        (log.name, log.raw, log.text, log.cuts) for log in whole
    ]
    assert [shared().triage(log) for log in found] == [shared().triage(log) for log in whole]


@pytest.mark.parametrize("form", ["zip", "tar.gz", "jsonl"])
def test_a_long_log_in_an_archive_or_in_records_takes_little_memory(form: str, tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("the most memory of a process, its parent's not counted, is told by Linux only")
    path = tmp_path / f"log.{form}"
    row = json.dumps({"log": "epoch 12 loss 0.12 lr 1e-4\n"}) if form == "jsonl" else "epoch 12 loss 0.12 lr 1e-4"
    block = (f"{row}\n" * (MIB // len(row))).encode()
    plain = tmp_path / "plain.log"
    with plain.open("wb") as out:
        for _ in range(300):
            out.write(block)
        out.write(TRACEBACK.encode())
    if form == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(plain, "1_build.txt")
    elif form == "tar.gz":
        with tarfile.open(path, "w:gz", compresslevel=1) as tar:
            tar.add(plain, "rank0.log")
    else:
        plain.rename(path)
    packed = tmp_path / "knowledge.bin"
    packed.write_bytes(shared().knowledge.packed)
    script = (
        "import sys; from cudnn_triage.engine import Triager; from cudnn_triage.knowledge.base import Knowledge\n"
        "from cudnn_triage.streams import read_file\n"
        "triager = Triager(Knowledge(open(sys.argv[2], 'rb').read()))\n"
        "(log,) = read_file(sys.argv[1], triager.knowledge)\n"
        "most = next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(triager.triage(log).diagnoses[0].cause, most)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", script, str(path), str(packed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    cause, most = done.stdout.split()
    assert cause
    assert int(most) / 1024 < 200


def test_json_lines() -> None:
    rows = [json.dumps({"log": line + "\n", "stream": "stderr"}) for line in (chatter(MIB) + TRACEBACK).split("\n")]
    text = "\n".join(rows) + "\n" + "\n".join(json.dumps({"log": row}) for row in chatter(MIB, 3).split("\n"))
    (log,) = streams.logs(iter([text.encode()]), "log", shared().knowledge)
    report = shared().triage(log)
    assert cited(report)[:2] == (ERROR, next(n for n, row in enumerate(rows, 1) if "NOT_INIT" in row))


def test_a_long_notebook_is_read_whole() -> None:
    output = {"output_type": "error", "traceback": [chatter(MIB), TRACEBACK, chatter(MIB, 2)]}
    book = json.dumps({"cells": [{"outputs": [output]}], "nbformat": 4, "metadata": {}})
    (log,) = streams.logs(iter([book.encode()]), "log", shared().knowledge)
    assert log.raw == book.encode()
    assert shared().triage(log).verdict == "diagnosed"


def test_a_document_too_long_to_be_held_is_read_in_lines_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_MOST_DOCUMENT", MIB)
    rows = [{"message": line} for line in (chatter(MIB) + TRACEBACK).split("\n")]
    (log,) = streams.logs(iter([json.dumps({"events": rows}, indent=1).encode()]), "log", shared().knowledge)
    assert shared().triage(log).verdict == "diagnosed"
    with pytest.raises(ReadError, match=r"more than 1 MiB on one line.*jq"):
        streams.logs(iter([json.dumps({"events": rows}).encode()]), "log", shared().knowledge)


def test_a_text_given_to_the_function_is_selected_from_likewise() -> None:
    text = chatter(MIB) + TRACEBACK + chatter(MIB, 2)
    assert shared().triage(read_text(text, "log")) == shared().triage(fed(text.encode()))
    assert shared().triage(read(text.encode(), "log")[0]) == shared().triage(fed(text.encode()))
