"""Hostile and arbitrary input with the shipped knowledge: nothing raises, hangs, styles, breaks out, or enters a command."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudnn_triage.cleaning import clean
from cudnn_triage.engine import Triager, shared
from cudnn_triage.reading import ReadError, read
from cudnn_triage.render.github import annotation
from cudnn_triage.render.markdown import to_markdown
from cudnn_triage.render.terminal import console, print_report

HOSTILE = sorted((Path(__file__).parent / "hostile").iterdir())
SNIPPETS = [
    b"RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 2.81 GiB already allocated; ",
    b"Traceback (most recent call last):\n  File \"x.py\", line 3, in f\n    g()\n",
    b"Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file",
    b"[rank0]: ", b"\x1b[31m", b"\r", b"> ", b"&gt;", b"NVRM: Xid (PCI:0000:dc:00): 79, ", b"CUDNN_STATUS_NOT_INITIALIZED", b"\xff\xfe", b"2024-01-01T00:00:00.0000000Z ",
]  # fmt: skip


@pytest.fixture(scope="module")
def triager() -> Triager:
    return shared()


def everything(triager: Triager, data: bytes) -> None:
    try:
        logs = read(data, "hostile")
    except ReadError as error:
        assert str(error)
        return
    for log in logs:
        lines = clean(log)
        for line in lines:
            assert 0 <= line.start <= line.end <= len(log.raw)
        report = triager.triage(log)
        count = max(log.raw.count(b"\n"), log.text.count("\n"), log.raw.count(b"\r")) + 1
        for diagnosis in report.diagnoses:
            for evidence in diagnosis.evidence:
                assert 0 <= evidence.line <= count
            for fix in diagnosis.fixes:
                for command in fix.commands:
                    assert not re.search(r"curl\$|reboot\b.*cudnn|rm -rf \$HOME|`id`", command)
        stream = io.StringIO()
        print_report(report, console(stream, 80, False))
        shown = stream.getvalue()
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert not re.search(r"^(::|##vso)", shown, re.MULTILINE)
        markdown = to_markdown(report)
        assert not re.search(r"^(::|##vso)", markdown, re.MULTILINE)
        outside = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", markdown, flags=re.MULTILINE | re.DOTALL)
        assert "@everyone" not in outside
        assert "<script" not in outside
        assert annotation(report).count("\n") == 1
        report.to_json().encode()


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.name)
def test_hostile_files(triager: Triager, path: Path) -> None:
    everything(triager, path.read_bytes())


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.one_of(st.binary(max_size=60), st.sampled_from(SNIPPETS), st.just(b"\n")), max_size=40).map(b"".join)
)
def test_any_bytes(triager: Triager, data: bytes) -> None:
    everything(triager, data)
