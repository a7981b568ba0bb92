"""How long single functions take, for pytest-benchmark: ``pytest benchmarks``. Nothing here asserts a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cudnn_triage.cleaning import clean
from cudnn_triage.engine import Triager
from cudnn_triage.grammar import parse
from cudnn_triage.knowledge.base import Knowledge, load
from cudnn_triage.reading import read
from cudnn_triage.redact import redacted
from cudnn_triage.selection import Selector
from inputs import FAILURE, pieces

Benchmark = Callable[..., Any]
FRAME = b"""  File "/opt/conda/lib/python3.9/site-packages/torch/nn/modules/module.py", line 1110, in _call_impl
    return forward_call(*input, **kwargs)
"""
LOGS = {"1 KB": FAILURE + FAILURE, "5 KB": FAILURE.replace(b"RuntimeError", FRAME * 30 + b"RuntimeError")}
CORPUS = Path(__file__).resolve().parents[1] / "corpus"


@pytest.fixture(scope="module")
def triager() -> Triager:
    return Triager(load())


@pytest.mark.parametrize("size", LOGS)
def test_triage(benchmark: Benchmark, triager: Triager, size: str) -> None:
    assert benchmark(lambda: redacted(triager.triage(read(LOGS[size])[0]))).verdict == "diagnosed"


@pytest.mark.parametrize("size", LOGS)
def test_clean(benchmark: Benchmark, size: str) -> None:
    log = read(LOGS[size])[0]
    assert benchmark(clean, log)


@pytest.mark.parametrize("size", LOGS)
def test_parse(benchmark: Benchmark, size: str) -> None:
    lines = clean(read(LOGS[size])[0])
    assert benchmark(parse, lines).failures


def test_open_knowledge(benchmark: Benchmark, triager: Triager) -> None:
    packed = triager.knowledge.packed
    assert benchmark(Knowledge, packed).digest


def test_first_triage(benchmark: Benchmark, triager: Triager) -> None:
    packed, log = triager.knowledge.packed, read(LOGS["1 KB"])[0]
    assert benchmark(lambda: Triager(Knowledge(packed)).triage(log)).verdict == "diagnosed"


@pytest.mark.parametrize("shape", ["training", "repeated", "tracebacks"])
def test_select_from_10_mb(benchmark: Benchmark, triager: Triager, shape: str) -> None:
    data = b"".join(pieces(shape, 10_000_000))

    def select() -> int:
        selector = Selector(triager.knowledge, "log")
        selector.feed(data)
        return len(selector.finish().raw)

    assert benchmark(select) < len(data)


def test_triage_the_corpus(benchmark: Benchmark, triager: Triager) -> None:
    logs = [read(path.read_bytes(), path.name)[0] for path in sorted(CORPUS.rglob("*.log"))[::20]]
    assert benchmark.pedantic(lambda: [triager.triage(log) for log in logs], rounds=3, iterations=1)  # type: ignore[attr-defined]
