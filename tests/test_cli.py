"""The command line as a person, a pipe and a CI job use it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from conftest import Rules

ROOT = Path(__file__).resolve().parents[1]
LOG = "step 1\nRuntimeError: the frob is out of cheese\n"


def run(*args: str, data: bytes = b"", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cudnn_triage", *args]
    return subprocess.run(
        command, input=data, capture_output=True, env={**os.environ, **(env or {})}, cwd=ROOT, timeout=120, check=False
    )


@pytest.fixture
def folder(rules: Rules) -> str:
    """A rule folder for --rules: one cause and one message that the shipped rules do not have."""
    rules.cause(
        "out-of-cheese",
        more="fixes:\n  - {title: Buy cheese, safety: reversible, commands: [buy cheese], verify: [look], why: w, source: s, read: 2026-11-20}",
    )
    rules.points("cheese", "the frob is out of cheese", "out-of-cheese", "certain")
    return str(rules.folder)


def test_a_log_on_standard_input_and_in_files(folder: str, tmp_path: Path) -> None:
    result = run("--rules", folder, data=LOG.encode())
    assert result.returncode == 0, result.stderr
    assert result.stdout.decode().splitlines()[0] == "Cause out-of-cheese"
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(LOG.encode()))
    plain = tmp_path / "plain.log"
    plain.write_text(LOG, encoding="utf-16")
    result = run("--rules", folder, "--format", "json", str(packed), str(plain), "-", data=LOG.encode())
    reports = [json.loads(line) for line in result.stdout.splitlines()]
    assert [r["diagnoses"][0]["cause"] for r in reports] == ["out-of-cheese"] * 3
    assert [r["input"]["name"] for r in reports] == [str(packed), str(plain), "<stdin>"]


def test_json_follows_the_published_schema(folder: str) -> None:
    schema = json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8"))
    for data in (LOG, "", "hello", "CUDA error: something failed oddly", LOG * 50):
        result = run("--rules", folder, "--format", "json", data=data.encode())
        jsonschema.validate(json.loads(result.stdout), schema)


def test_the_published_schema_is_that_of_the_types() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    from write_schema import TARGET, schema

    assert TARGET.read_text(encoding="utf-8") == schema(), "run scripts/write_schema.py"


def test_exit_codes(folder: str) -> None:
    assert run("--rules", folder, data=LOG.encode()).returncode == 0
    assert run("--rules", folder, "--exit-code", data=LOG.encode()).returncode == 10
    assert run("--exit-code", data=b"CUDA frobnication failed with error in unit seven\n").returncode == 11
    assert run("--exit-code", data=b"all is well\n").returncode == 0


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["/no/such/file.log"], "/no/such/file.log"),
        (["--rules", "/no/such/rules"], "/no/such/rules"),
        (["--width", "3"], "expected 20 to 1000"),
        (["--format", "pdf"], "invalid choice"),
        (["explain", "no-such-thing-at-all"], "nothing is known"),
        (["eval", "/no/such/folder"], "/no/such/folder"),
        ([str(ROOT)], "directory"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_is_wrong(args: list[str], told: str) -> None:
    result = run(*args)
    assert result.returncode == 2
    assert told in result.stderr.decode()
    assert b"Traceback" not in result.stderr


def test_a_broken_rule_is_reported_with_file_line_and_field(folder: str) -> None:
    bad = Path(folder) / "signatures" / "test" / "cheese.yaml"
    bad.write_text(bad.read_text(encoding="utf-8").replace("strength: certain", "strength: enormous"), encoding="utf-8")
    result = run("--rules", folder, data=LOG.encode())
    assert result.returncode == 2
    assert "cheese.yaml:6" in result.stderr.decode()
    assert "points_to[0].strength" in result.stderr.decode()


def test_github_format_appends_the_step_summary(folder: str, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    result = run("--rules", folder, "--format", "github", data=LOG.encode(), env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert result.stdout.startswith(b"::error title=out-of-cheese")
    assert summary.read_text(encoding="utf-8").startswith("**Cause out-of-cheese**")


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m cudnn_triage rules list | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, cwd=ROOT, timeout=120, check=False)
    assert b"Traceback" not in result.stderr
    assert len(result.stdout.splitlines()) == 1


def test_rules_new_makes_a_file_that_lints_once_filled_in(rules: Rules) -> None:
    message = b"widget: Loaded libwidget.so.3 version 1.2.3 but 12.5 MiB are {gone} at 0x7f12"
    result = run("rules", "new", "widget-gone", "--cause", "driver-not-loaded", data=message)
    text = result.stdout.decode()
    assert "{:soname}" in text
    assert "{:version}" in text
    assert "{:size}" in text
    assert "{{gone}}" in text
    text = text.replace("TODO what this message says, in a few words", "A widget")
    text = text.replace("TODO a similar line that must not match", "widget: all well")
    text = text.replace("TODO the source file that prints it, or a page", "widget.c")
    rules.file("signatures/test/widget-gone.yaml", text)
    result = run("rules", "lint", str(rules.folder))
    assert "widget-gone" not in result.stdout.decode()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_commands_and_causes(shell: str) -> None:
    script = run("completion", shell).stdout.decode()
    assert "explain" in script
    assert "cudnn-not-found" in script
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script.encode(), check=True)


def test_json_needs_neither_rich_nor_yaml_nor_pyparsing(folder: str) -> None:
    code = (
        "import sys; from cudnn_triage.cli import main; main(['--format', 'json']); "
        "print([m for m in ('rich', 'yaml', 'pyparsing', 'msgspec', 'charset_normalizer', 'sklearn') if m in sys.modules], file=sys.stderr)"
    )
    run("--version")
    subprocess.run(
        [sys.executable, "-c", code], input=b"x", capture_output=True, check=True, cwd=ROOT
    )  # fills the cache
    result = subprocess.run([sys.executable, "-c", code], input=LOG.encode(), capture_output=True, check=True, cwd=ROOT)
    assert result.stderr.decode().strip() == "[]"
