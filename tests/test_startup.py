"""What a run of the command imports: every module costs time at each error somebody pastes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# Of the standard library and the dependencies, all that the JSON path may import beyond what a bare interpreter with ``re`` has.
# Before adding a name, measure what it costs: python -X importtime, benchmarks/compare.py start.
ALLOWED = {
    "__future__", "_bisect", "_heapq", "_json", "array", "atexit", "bisect", "gc", "heapq", "json", "json.decoder", "json.encoder",
    "json.scanner", "math", "mmap", "re2", "re2._re2", "operator", "collections.abc", "_struct", "struct",
}  # fmt: skip
# Of our own, what only other commands, other formats and compiling rules need.
NEVER = {
    "cudnn_triage.commands", "cudnn_triage.options", "cudnn_triage.vocabulary", "cudnn_triage.explain", "cudnn_triage.linting",
    "cudnn_triage.evaluation", "cudnn_triage.render", "cudnn_triage.knowledge.compiling", "cudnn_triage.knowledge.rulebook",
    "cudnn_triage.knowledge.packing", "cudnn_triage.knowledge.templates",
}  # fmt: skip
LOG = """Traceback (most recent call last):
  File "/home/user/train.py", line 42, in <module>
    loss.backward()
  File "/opt/conda/lib/python3.9/site-packages/torch/_tensor.py", line 396, in backward
    torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED
"""
RUN = """
import re, sys
before = set(sys.modules)
from cudnn_triage.knowledge import base
base.source_rules = lambda: None          # as installed: with the compiled rules beside the package
base._PACKAGE = {folder!r}
from cudnn_triage.cli import main
main(["--format", {form!r}])
import json
print(json.dumps(sorted(set(sys.modules) - before)), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled rules, as a wheel has it."""
    from cudnn_triage.knowledge.base import COMPILED, load

    folder = tmp_path_factory.mktemp("package")
    (folder / COMPILED).write_bytes(load().packed)
    return folder


def imported(package: Path, form: str) -> set[str]:
    script = RUN.format(folder=str(package), form=form)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", script], input=LOG, capture_output=True, text=True, check=True, env=environment
    )
    if form == "json":
        assert json.loads(done.stdout)["verdict"] == "diagnosed"
    found: list[str] = json.loads(done.stderr.splitlines()[-1])
    return set(found)


def test_the_json_path_imports_little(package: Path) -> None:
    found = imported(package, "json")
    others = {name for name in found if name.partition(".")[0] != "cudnn_triage"}
    assert others <= ALLOWED
    assert not {name for name in found if any(name == known or name.startswith(f"{known}.") for known in NEVER)}


def test_other_formats_import_what_they_need_only(package: Path) -> None:
    assert not {"yaml", "pyparsing", "msgspec", "dataclasses"} & imported(package, "markdown")
    assert not {"yaml", "pyparsing", "msgspec"} & imported(package, "text")
