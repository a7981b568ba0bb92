"""What can be read: encodings, compression, archives, JSON, notebooks; nothing but ReadError ever comes out."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import random
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Rules, zipped
from cudnn_triage import containers
from cudnn_triage.cleaning import clean
from cudnn_triage.cli import main
from cudnn_triage.reading import Log, ReadError, read, read_path
from cudnn_triage.streams import logs

ERROR = "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
LOG = f"Loading\n{ERROR}\n".encode()


def texts(data: bytes) -> list[str]:
    return [line.text for log in read(data) for line in clean(log)]


def test_plain_text_is_one_log() -> None:
    (log,) = read(LOG, "train.log")
    assert (log.name, log.raw, log.text, log.encoding) == ("train.log", LOG, LOG.decode(), "utf-8")


def test_empty_input_is_an_empty_log() -> None:
    (log,) = read(b"")
    assert log.text == ""
    assert [line.text for line in clean(log)] == [""]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_logs_are_recognised_by_content(compress: type) -> None:
    (log,) = read(compress(LOG), "no-extension")
    assert log.raw == LOG


def test_several_gzip_members_make_one_log() -> None:
    assert read(gzip.compress(b"one\n") + gzip.compress(b"two\n"))[0].raw == b"one\ntwo\n"


def test_zstd_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("compression", "backports"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ReadError, match=r"pip install backports\.zstd"):
        read(b"\x28\xb5\x2f\xfd" + bytes(20), "x.zst")


def test_zstd_roundtrip() -> None:
    zstd = pytest.importorskip("backports.zstd")
    assert read(zstd.compress(LOG))[0].raw == LOG


def test_a_gzip_cut_short_gives_what_is_there() -> None:
    body = b"".join(f"line {number} {number * 7919 % 10007}\n".encode() for number in range(20_000)) + LOG
    data = gzip.compress(body)
    (log,) = read(data[: len(data) // 2])
    assert body.startswith(log.raw)
    assert len(log.raw) > 1000


@pytest.mark.parametrize("end", [300_000, -60])
def test_a_report_says_that_its_input_was_cut(end: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = LOG + b"".join(f"line {number} {number * 7919 % 10007}\n".encode() for number in range(90_000))
    data = gzip.compress(body)
    path = tmp_path / "x.log.gz"
    path.write_bytes(data[:end])
    assert main(["--format", "json", str(path)]) == 0
    told = json.loads(capsys.readouterr().out)["input"]
    assert told["note"] == "the compressed file is damaged or cut short, and only its beginning could be read"
    path.write_bytes(data)
    assert main(["--format", "json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["input"]["note"] == ""


def test_an_office_document_is_no_archive_of_logs() -> None:
    with pytest.raises(ReadError, match=r"a\.docx: this is an Office document, not a log; copy the text"):
        read(zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<w:t>CUDA error</w:t>"}), "a.docx")


def test_a_damaged_member_of_an_archive_is_named() -> None:
    data = zipped({"a.txt": b"CUDA error: out of memory\n" * 50, "b.txt": b"it is the other one\n" * 50})
    at = data.index(b"b.txt") + 12
    (log,) = read(data[:at] + b"\xff\xff\xff\xff" + data[at + 4 :], "logs.zip")
    assert log.note == "b.txt in the archive is damaged and was left out"


RANDOM = random.Random(5).randbytes(5000)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (pickle.dumps(["RuntimeError: CUDA out of memory"] * 9, protocol=2), "a Python pickle"),
        (pickle.dumps({"a": list(range(900))}), "a Python pickle"),
        (RANDOM, "binary data"),
        (RANDOM * 100, "binary data"),
        (b"MZ\x90\x00" + RANDOM, "a Windows program"),
        (
            b"\x2c\x01\x00\x00\x00\x00\x00\x00" + b'{"weight": {"dtype": "F32", "shape": [2, 2]}}' + RANDOM,
            "safetensors",
        ),
        (b"\x7fELF" + bytes(12) + b"\x04\x00" + RANDOM, "a core dump"),
        (bytes(9000), "only zero bytes"),
    ],
)
def test_what_is_no_text_is_refused_by_what_it_seems_to_be(
    data: bytes, what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(data)
    assert main([str(path)]) == 2
    told = capsys.readouterr()
    assert what in told.err
    assert not told.out


@pytest.mark.parametrize(
    "data",
    [
        bytes(70_000) + LOG,
        LOG + bytes(70_000),
        RANDOM[:600] + b"\n" + LOG,
        "Ошибка: не найден указанный модуль\n".encode("cp1251") * 9,
        "エラーが発生しました。CUDA error\n".encode("cp932") * 9,
        "RuntimeError: CUDA error: out of memory\n".encode("utf-16"),
        "RuntimeError: CUDA error: out of memory\n".encode("utf-16-be"),
        b"\x1b[31mred\x1b[0m\r\x08\x08\n" * 50,
    ],
)
def test_a_log_with_odd_bytes_is_still_a_log(data: bytes) -> None:
    assert read(data)[0].text.strip("\x00")


def test_a_damaged_file_says_what_to_do() -> None:
    with pytest.raises(ReadError, match=r"x\.gz: the compressed file is damaged"):
        read(b"\x1f\x8b\x08\x00garbage", "x.gz")


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + bytes(40), b"%PDF-1.7\n", b"\xff\xd8\xff\xe0" + bytes(20)])
def test_a_screenshot_is_refused_with_advice(data: bytes) -> None:
    with pytest.raises(ReadError, match="text of the log"):
        read(data)


def test_decompression_bombs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(containers, "MOST_BYTES", 5 << 20)
    with pytest.raises(ReadError, match="expands to more than"):
        read(gzip.compress(b"line\n" * (2 << 20)))
    monkeypatch.setattr(containers, "MOST_BYTES", 1 << 40)
    monkeypatch.setattr(containers, "_FREE_BYTES", 1 << 20)
    with pytest.raises(ReadError, match="bomb"):
        read(lzma.compress(b"line\n" * (10 << 20)))


def test_nesting_is_limited(rules: Rules) -> None:
    data = LOG
    for _ in range(3):
        data = gzip.compress(data)
    assert read(data)[0].raw == LOG
    for _ in range(10):
        data = gzip.compress(data)
    with pytest.raises(ReadError, match="nested"):
        read(data)
    rules.facts()
    with pytest.raises(ReadError, match="nested"):
        logs(iter((data,)), "x", rules.knowledge())


def test_a_github_log_archive_gives_each_job_once_in_natural_order() -> None:
    data = zipped(
        {
            "10_lint.txt": b"lint\n",
            "2_build (3.10).txt": b"build\n",
            "build (3.10)/1_Set up job.txt": b"part\n",
            "build (3.10)/system.txt": b"part\n",
            "deploy/10_b.txt": b"ten\n",
            "deploy/9_a.txt": b"nine\n",
            "shot.png": b"\x89PNG\r\n\x1a\n" + bytes(50),
            "core": bytes(5000),
        }
    )
    logs = read(data, "logs.zip")
    assert [(log.name, log.raw) for log in logs] == [
        ("logs.zip:2_build (3.10).txt", b"build\n"),
        ("logs.zip:10_lint.txt", b"lint\n"),
        ("logs.zip:deploy/9_a.txt", b"nine\n"),
        ("logs.zip:deploy/10_b.txt", b"ten\n"),
    ]


def test_an_archive_without_text_is_an_error() -> None:
    with pytest.raises(ReadError, match="no text file"):
        read(zipped({"core": bytes(5000)}), "x.zip")
    with pytest.raises(ReadError, match="damaged"):
        read(b"PK\x03\x04 nothing", "x.zip")


def test_a_member_without_a_name_is_read() -> None:
    """A name ends at its first zero byte, whatever the archive says of its length."""
    data = zipped({"train.log": LOG}).replace(b"train.log", b"\0rain.log")
    assert texts(data) == ["Loading", ERROR]


def test_tar_archives() -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as file:
        info = tarfile.TarInfo("logs/rank0.log")
        info.size = len(LOG)
        file.addfile(info, io.BytesIO(LOG))
    (log,) = read(buffer.getvalue(), "logs.tgz")
    assert (log.name, log.raw) == ("logs.tgz:logs/rank0.log", LOG)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_encodings(encoding: str) -> None:
    data = "Début — 训练\r\nRuntimeError: CUDA error: out of memory 🔥\r\n".encode(encoding)
    (log,) = read(data)
    lines = clean(log)
    assert [line.text for line in lines] == ["Début — 训练", "RuntimeError: CUDA error: out of memory 🔥"]
    for line in lines:
        for index, char in enumerate(line.text):
            assert log.raw[line.byte(index) :].decode(log.encoding, "ignore").startswith(char)
    assert lines[1].place(0) == (2, 1)


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        (
            "gb18030",
            "无法加载动态库。找不到指定的模块。请检查显卡驱动程序是否已经正确安装。然后重新启动计算机再试一次。",
        ),
        ("cp932", "指定されたモジュールが見つかりません。ドライバーを確認してから、もう一度やり直してください。"),
        (
            "cp1252",
            "Le module spécifié est introuvable. Vérifiez que le pilote a été installé, puis redémarrez l'ordinateur.",
        ),
        (
            "cp1251",
            "Указанный модуль не найден. Проверьте, установлен ли драйвер видеокарты, и перезагрузите компьютер.",
        ),
    ],
)
def test_legacy_code_pages_keep_the_ascii_around_them(encoding: str, words: str) -> None:
    data = f"OSError: [WinError 126] {words} cudnn64_8.dll\nCUDNN_STATUS_INTERNAL_ERROR\n{words}\n".encode(encoding)
    (log,) = read(data)
    lines = clean(log)
    assert lines[0].text.startswith("OSError: [WinError 126] ")
    assert lines[0].text.endswith(" cudnn64_8.dll")
    assert lines[1].text == "CUDNN_STATUS_INTERNAL_ERROR"
    assert log.raw[lines[1].start : lines[1].end] == b"CUDNN_STATUS_INTERNAL_ERROR"


def test_a_few_broken_bytes_leave_the_rest_alone() -> None:
    data = "größer ".encode() + b"\xff\xfe ok\x00 done\n" + LOG
    (log,) = read(data)
    lines = clean(log)
    assert log.encoding == "utf-8"
    assert lines[0].text == "größer \ufffd\ufffd ok done"
    assert log.raw[lines[0].byte(lines[0].text.index("ok")) :].startswith(b"ok")
    assert log.raw[lines[0].byte(lines[0].text.index("done")) :].startswith(b"done")
    assert lines[2].text == ERROR


@pytest.mark.parametrize(
    "data",
    [
        b"a" * 250_000 + "\n".join(["Größe", "für", "über"]).encode("cp1252"),  # one long line of another code page
        b'{"log":""}\n' * 25_000,
        b'{\n"a":' + b'{"a":' * 500 + b"[" + b'"x",' * 60_000 + b'"x"]' + b"}" * 501,  # long paths to many values
    ],
    ids=["code-page", "empty-records", "deep"],
)
def test_odd_shapes_take_little_time(data: bytes) -> None:
    before = time.process_time()
    assert len(read(data)) == 1
    assert time.process_time() - before < 5


def json_lines(*records: object) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_docker_json_logs() -> None:
    data = json_lines(
        {"log": "Loading\n", "stream": "stdout", "time": "2026-11-20T11:10:14.4Z"},
        {"log": "\u001b[31mRuntimeError: CUDA", "stream": "stderr", "time": "2026-11-20T11:10:14.4Z"},
        {"log": ' error: "x"\u001b[0m\r\n', "stream": "stderr", "time": "2026-11-20T11:10:14.4Z"},
        {"log": "end\n", "stream": "stderr", "time": "2026-11-20T11:10:14.4Z"},
    )
    (log,) = read(data)
    lines = clean(log)
    assert [line.text for line in lines] == ["Loading", 'RuntimeError: CUDA error: "x"', "end"]
    assert [line.number for line in lines] == [1, 2, 4]
    error = lines[1]
    for index, char in enumerate(error.text):
        if char != '"':
            assert log.raw[error.byte(index) :].startswith(char.encode())
    assert error.place(0) == (2, data.split(b"\n")[1].index(b"Runtime") + 1)
    assert error.place(len("RuntimeError: CUDA")) == (3, len('{"log": "') + 1)


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([{"MESSAGE": "NVRM: Xid", "_PID": "1"}, {"MESSAGE": [104, 105, 27, 91, 109]}], ["NVRM: Xid", "hi"]),
        ([{"textPayload": "a\nb", "severity": "ERROR"}], ["a", "b"]),
        ([{"jsonPayload": {"message": "deep"}, "severity": "ERROR"}], ["deep"]),
        (
            [{"message": "oops", "level": "error", "exc_info": "Traceback (most recent call last):\n  x"}],
            ["oops", "Traceback (most recent call last):", "  x"],
        ),
        ([{"text": "2024 | formatted\n", "record": {"message": "raw", "exception": None}}], ["2024 | formatted"]),
        ([{"msg": "one"}, {"msg": "two"}], ["one", "two"]),
    ],
)
def test_json_records(records: list[object], expected: list[str]) -> None:
    assert texts(json_lines(*records)) == expected


STACK = f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n{ERROR}'


@pytest.mark.parametrize(
    "record",
    [
        {"message": "train failed", "error": {"stack_trace": ERROR, "type": "RuntimeError"}},  # ECS
        {"@timestamp": "x", "message": "train failed", "error.stack_trace": STACK, "error.type": "RuntimeError"},
        {"error": {"stack_trace": STACK, "message": "cuDNN error"}, "message": "train failed"},
        {
            "level": 50,
            "pid": 1,
            "err": {"message": "cuDNN error", "stack": STACK},
            "msg": "train failed",
        },  # bunyan, pino
        {"severity": "ERROR", "jsonPayload": {"message": "train failed", "error": {"stack": STACK}}, "trace": "p/1"},
        {"event": "train failed", "exception": STACK},
        {"msg": "train failed", "details": ERROR},
        {"msg": "train failed", "extra": {"output": STACK}},
        {"message": "train failed", "body": {"stackTrace": STACK}},
        {"message": "train failed", "stacktrace": STACK},
        {"message": "train failed", "attributes": {"exception.stacktrace": STACK, "exception.id": "77"}},
        {"message": "train failed", "causes": [{"text": ERROR}]},
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_error_text_beside_the_message_is_kept_with_its_place(record: dict[str, object], indent: int | None) -> None:
    data = json.dumps(record, indent=indent).encode() + b"\n"
    (log,) = read(data)
    lines = clean(log)
    shown = [line.text for line in lines]
    assert "train failed" in shown
    assert set(shown) - {"train failed"} <= {*STACK.split("\n"), "RuntimeError"}
    error = lines[shown.index(ERROR)]
    assert log.raw[error.byte(0) :].startswith(ERROR.encode())
    number, column = error.place(0)
    assert data.split(b"\n")[number - 1][column - 1 :].startswith(ERROR.encode())
    assert [line.start for line in lines] == sorted(line.start for line in lines)


def test_a_record_without_a_message_gives_its_error() -> None:
    assert texts(json_lines({"exception": {"values": [{"type": "RuntimeError", "value": ERROR}]}})) == [ERROR]
    assert texts(json_lines({"severityText": "ERROR", "body": {"stringValue": ERROR}})) == [ERROR]


@pytest.mark.parametrize("indent", [None, 2])
def test_kubernetes_events(indent: int | None) -> None:
    event = {
        "kind": "Event",
        "type": "Warning",
        "reason": "Failed",
        "message": "Error: no GPU",
        "metadata": {"name": "n"},
    }
    for document in (event, {"type": "ADDED", "object": event}, {"kind": "List", "items": [event]}):
        assert texts(json.dumps(document, indent=indent).encode()) == ["Failed", "Error: no GPU"]


def test_json_documents_one_after_the_other() -> None:
    records = [{"level": "info", "message": "first"}, {"error": {"stack": ERROR}, "message": "second"}]
    assert texts("\n".join(json.dumps(record, indent=2) for record in records).encode()) == ["first", ERROR, "second"]


def test_a_long_json_record_is_read_as_one() -> None:
    assert texts(json.dumps({"log": "some output\n" * 120_000}).encode()) == ["some output"] * 120_000


def test_records_without_text_leave_no_lines() -> None:
    data = json_lines(
        {"log": "", "stream": "stdout"}, {"log": ""}, {"log": "a"}, {"log": ""}, {"log": "b\n"}, {"log": "c"}
    )
    assert texts(data) == ["a", "b", "c"]


def test_lines_between_json_records_stay() -> None:
    data = (
        b"plain first\n"
        + json_lines({"message": "m", "level": "info"})
        + b"{not json}\n"
        + json_lines({"message": "n"})
    )
    assert texts(data) == ["plain first", "m", "{not json}", "n"]


def test_json_that_is_no_log_stays_as_it_is() -> None:
    data = json_lines({"loss": 0.5, "step": 1}, {"loss": 0.4, "step": 2})
    assert texts(data) == data.decode().splitlines()
    assert texts(b"{'loss': 2.35, 'epoch': 1.0}\n") == ["{'loss': 2.35, 'epoch': 1.0}"]


def test_a_json_document_of_records() -> None:
    data = json.dumps([{"textPayload": "first", "n": 1}, {"jsonPayload": {"message": "second"}}], indent=2).encode()
    assert texts(data) == ["first", "second"]
    assert texts(
        json.dumps({"events": [{"timestamp": 1, "message": "a"}, {"timestamp": 2, "message": "b"}]}).encode()
    ) == ["a", "b"]


def test_notebooks_give_their_outputs() -> None:
    notebook = {
        "nbformat": 4,
        "metadata": {},
        "cells": [
            {"cell_type": "markdown", "source": ["RuntimeError: not an output"]},
            {
                "cell_type": "code",
                "source": ["import torch"],
                "outputs": [
                    {"output_type": "stream", "name": "stderr", "text": ["W tensorflow/x.cc:1] hello\n", "second\n"]},
                    {
                        "output_type": "execute_result",
                        "data": {"text/plain": ["Device(id=0)"], "text/html": ["<b>x</b>"]},
                    },
                    {
                        "output_type": "error",
                        "ename": "RuntimeError",
                        "evalue": "boom",
                        "traceback": ["\u001b[0;31m-----\u001b[0m", "\u001b[0;31mRuntimeError\u001b[0m: boom"],
                    },
                ],
            },
        ],
    }
    data = json.dumps(notebook, indent=1).encode()
    (log,) = read(data, "train.ipynb")
    lines = clean(log)
    assert [line.text for line in lines] == [
        "W tensorflow/x.cc:1] hello",
        "second",
        "Device(id=0)",
        "-----",
        "RuntimeError: boom",
    ]
    last = lines[-1]
    assert log.raw[last.byte(0) :].startswith(b"RuntimeError")
    assert b"RuntimeError" in data.split(b"\n")[last.number - 1]


def test_a_notebook_without_outputs_says_what_to_do() -> None:
    cell = {"cell_type": "code", "source": ["model.fit()"], "outputs": []}
    data = json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}).encode()
    with pytest.raises(
        ReadError, match=r"^a\.ipynb: .*holds no stored outputs.*run it and save it.*paste the traceback"
    ):
        read(data, "a.ipynb")
    with pytest.raises(ReadError, match="no stored outputs"):
        read(zipped({"a.ipynb": data}), "x.zip")
    assert [log.name for log in read(zipped({"a.ipynb": data, "b.log": LOG, "c.ipynb": data}), "x.zip")] == [
        "x.zip:b.log"
    ]


def test_read_path(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(LOG)
    (log,) = read_path(path)
    assert log.name == str(path)
    with pytest.raises(ReadError, match="No such file"):
        read_path(tmp_path / "missing.log")
    with pytest.raises(ReadError, match="directory"):
        read_path(tmp_path)


@settings(max_examples=150)
@given(
    st.one_of(
        st.binary(max_size=400),
        st.builds(
            lambda head, tail: head + tail,
            st.sampled_from(
                [
                    b"\x1f\x8b\x08",
                    b"BZh91AY&SY",
                    b"\xfd7zXZ\x00",
                    b"\x28\xb5\x2f\xfd",
                    b"PK\x03\x04",
                    b"[{",
                    b'{"cells":[',
                    b'{"log":"',
                ]
            ),
            st.binary(max_size=100),
        ),
        st.text(alphabet='{}[]":,\\nmessage log01\n', max_size=200).map(str.encode),
    )
)
def test_any_bytes_give_logs_or_a_read_error(data: bytes) -> None:
    try:
        logs = read(data)
    except ReadError as error:
        assert str(error).startswith("<stdin>")
        return
    assert logs
    for log in logs:
        assert isinstance(log, Log)
        clean(log)


@settings(max_examples=100)
@given(
    st.recursive(
        st.text(max_size=12) | st.integers() | st.none(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["log", "message", "a"]), inner, max_size=3)
        ),
    )
)
def test_any_json_can_be_read(value: object) -> None:
    for data in (
        json.dumps(value),
        json.dumps({"message": value}),
        json.dumps([{"log": value}], indent=1, ensure_ascii=False),
    ):
        for log in read(data.encode("utf-8", "surrogatepass")):
            for line in clean(log):
                line.text.encode()
                assert 0 <= line.start <= line.end <= len(log.raw)


@pytest.mark.parametrize(
    "write",
    [
        lambda lines: json.dumps(lines),
        lambda lines: json.dumps(lines, indent=2),
        lambda lines: json.dumps("\n".join(lines)),
        repr,
        lambda lines: repr("\n".join(lines)),
        lambda lines: repr("\n".join(lines).encode()),
        lambda lines: "\n".join(repr(f"{line}\n".encode()) for line in lines),
        lambda lines: json.dumps(
            {"data": {"result": [{"values": [[str(at), line] for at, line in enumerate(lines)]}]}}
        ),
    ],
)
def test_a_log_printed_as_strings_is_its_lines_and_keeps_its_places(write: Callable[[list[str]], str]) -> None:
    source = ["it's \u2018quoted\u2019", "a\u00a0b", "C:\\new\\x", 'File "a.py", line 3', "\ttab", ERROR]
    (log,) = read(write(source).encode())
    lines = clean(log)
    assert [line.text for line in lines] == [line.replace("\u00a0", " ") for line in source]
    raw = log.raw.decode()
    at = lines[-1].byte(0)
    assert log.raw[at:].startswith(ERROR.encode())
    number, column = lines[-1].place(0)
    assert raw.split("\n")[number - 1][column - 1 :].startswith(ERROR)


@pytest.mark.parametrize(
    "text", ["'nvcc' is not recognized as an internal command", '"a" "b" c', "'one'", "[1, 2]", "'a''b'"]
)
def test_text_that_only_begins_with_a_quotation_mark_stays(text: str) -> None:
    assert texts(text.encode()) == [text]
