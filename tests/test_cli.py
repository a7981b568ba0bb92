"""The command line as a person, a pipe and a CI job use it."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import jsonschema
import pytest

from conftest import Rules
from cudnn_triage.cli import main

ROOT = Path(__file__).resolve().parents[1]
LOG = "step 1\nRuntimeError: the frob is out of cheese\n"


def run(
    *args: str, data: bytes = b"", env: dict[str, str] | None = None, cwd: Path = ROOT
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "cudnn_triage", *args]
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        command,
        input=data,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": paths, **(env or {})},
        cwd=cwd,
        timeout=120,
        check=False,
    )


def shell(command: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """A shell command in which TRIAGE stands for the program."""
    command = command.replace("TRIAGE", f"{sys.executable} -m cudnn_triage")
    return subprocess.run(["bash", "-c", command], input=data, capture_output=True, cwd=ROOT, timeout=120, check=False)


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


def test_one_file_that_cannot_be_read_leaves_the_answers_on_the_others(folder: str, tmp_path: Path) -> None:
    plain = tmp_path / "plain.log"
    plain.write_text(LOG, encoding="utf-8")
    result = run("--rules", folder, "--format", "json", str(tmp_path / "no.log"), str(plain))
    assert result.returncode == 2
    assert "no.log" in result.stderr.decode()
    assert json.loads(result.stdout)["diagnoses"][0]["cause"] == "out-of-cheese"


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
    assert run("--exit-code", data=b"CUDA frobnicator zork failed\n").returncode == 11
    assert run("--exit-code", data=b"all is well\n").returncode == 0


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["/no/such/file.log"], "/no/such/file.log"),
        (["--rules", "/no/such/rules"], "/no/such/rules"),
        (["--width", "39"], "expected 40 to 1000"),
        (["--format", "pdf"], "invalid choice"),
        (["explain", "no-such-thing-at-all"], "nothing is known"),
        (["eval", "/no/such/folder"], "/no/such/folder"),
        ([str(ROOT)], "directory"),
        (["rules", "lint", "/no/such/folder"], "/no/such/folder"),
        (["rules", "lint", "--healthy", "/no/such/folder"], "/no/such/folder"),
        (["rules", "new", "some-id"], "paste the message"),
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


def test_a_step_summary_that_cannot_be_written_is_a_clear_error(folder: str, tmp_path: Path) -> None:
    result = run("--rules", folder, "--format", "github", data=LOG.encode(), env={"GITHUB_STEP_SUMMARY": str(tmp_path)})
    assert result.returncode == 2
    assert result.stdout.startswith(b"::error title=out-of-cheese")
    assert b"Traceback" not in result.stderr
    assert f"GITHUB_STEP_SUMMARY={tmp_path}" in result.stderr.decode()


@pytest.mark.parametrize(
    "command",
    [
        "rules list",
        "explain 700",
        "--rules {folder} {log}",
        "--rules {folder} --color always {log}",
        "--rules {folder} --format json {log}",
        "--rules {folder} --format markdown {log}",
    ],
)
@pytest.mark.parametrize("reader", ["true", "head -c 20"])
def test_a_reader_that_goes_away_is_no_error(folder: str, tmp_path: Path, command: str, reader: str) -> None:
    log = tmp_path / "a.log"
    log.write_text(LOG * 40, encoding="utf-8")
    logs = " ".join([str(log)] * 40)
    result = shell(f"TRIAGE {command.format(folder=folder, log=logs)} | {reader}; exit ${{PIPESTATUS[0]}}")
    assert result.stderr == b""
    assert result.returncode == 0


def test_the_exit_code_of_the_answer_outlives_the_reader(folder: str, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_text(LOG, encoding="utf-8")
    logs = " ".join([str(log)] * 200)
    result = shell(f"TRIAGE --exit-code --rules {folder} {logs} | true; exit ${{PIPESTATUS[0]}}")
    assert (result.returncode, result.stderr) == (10, b"")


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github"])
def test_closed_streams_are_said_not_stumbled_over(folder: str, form: str) -> None:
    result = shell(f"TRIAGE --rules {folder} --format {form} >&-", LOG.encode())
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"no standard output" in result.stderr
    assert b"Traceback" not in result.stderr
    for command in (f"TRIAGE --format {form} <&-", "TRIAGE rules new some-id <&-"):
        result = shell(command)
        assert result.returncode == 2
        assert b"no standard input" in result.stderr
        assert b"Traceback" not in result.stderr
    result = shell(f"TRIAGE --rules {folder} --format {form} 2>&-", LOG.encode())
    assert result.returncode == 0
    assert b"cheese" in result.stdout
    result = shell("TRIAGE /no/such/file 2>&-")
    assert (result.returncode, result.stdout) == (2, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk_is_a_clear_error(folder: str, form: str) -> None:
    result = shell(f"TRIAGE --rules {folder} --format {form} > /dev/full", LOG.encode())
    assert result.returncode == 2
    assert result.stderr.decode().startswith("cudnn-triage: standard output cannot be written: ")
    assert b"Traceback" not in result.stderr


def test_machine_formats_are_utf8_whatever_the_locale(folder: str) -> None:
    for encoding in ("ascii", "latin-1", "utf-16"):
        env = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
        log = "日志\nRuntimeError: the frob is out of cheese 奶酪\n"
        for form in ("json", "markdown", "github"):
            result = run("--rules", folder, "--format", form, data=log.encode(), env=env)
            assert "奶酪" in result.stdout.decode("utf-8"), (encoding, form)
        new = run("rules", "new", "cheese-gone", data=log.encode("utf-16"), env=env)
        assert "奶酪" in new.stdout.decode("utf-8")
        assert result.returncode == new.returncode == 0
    text = run("--rules", folder, data=log.encode(), env={"PYTHONIOENCODING": "ascii"})
    assert text.stdout.decode("ascii").startswith("Cause out-of-cheese\n")


@pytest.mark.parametrize("words", [[], ["--tee"], ["--follow"], ["rules", "new", "some-id"]])
def test_standard_input_that_cannot_be_read_is_said_not_taken_for_an_empty_log(
    words: list[str], tmp_path: Path
) -> None:
    with (tmp_path / "written").open("wb") as only_written:
        result = subprocess.run([sys.executable, "-m", "cudnn_triage", *words], stdin=only_written, capture_output=True)
    said = b"cudnn-triage: <stdin>: cannot be read: Bad file descriptor\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, b"", said)


def test_names_from_an_archive_do_nothing(folder: str, tmp_path: Path) -> None:
    names = [
        "\x1b[31mred\x07.log",
        "a\n::set-output name=x::y\n.log",
        "@everyone <img src=x>.log",
        "a```b.log",
        "\u202ex.log",
    ]
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for name in names:
            packed.writestr(name, LOG)
    for form in ("text", "json", "markdown", "github"):
        result = run("--rules", folder, "--format", form, str(archive))
        assert result.returncode == 0
        shown = result.stdout.decode()
        assert "\x1b" not in shown
        assert "::set-output" not in [line[:12] for line in shown.splitlines()]
        if form != "json":
            assert "\u202e" not in shown
        if form == "markdown":
            fences = re.compile(r"^(`{3,})\w*\n.*?^\1$", re.MULTILINE | re.DOTALL)
            outside = re.sub(r"(`+)[^\n]*?\1", "", fences.sub("", shown))
            assert "@everyone" not in outside
            assert "<img" not in outside
    hostile = tmp_path / "x\n::error::\x1b[31m.log"
    hostile.write_bytes(b"\x89PNG\r\n\x1a\n")
    for args in ([str(hostile)], ["--x\n::error::\x1b[31m"]):
        result = run(*args)
        assert result.returncode == 2
        assert b"\x1b" not in result.stderr
        assert not any(line.startswith(b"::") for line in result.stderr.splitlines())


def test_a_log_named_like_a_command(folder: str, tmp_path: Path) -> None:
    for name in ("explain", "--verbose"):
        (tmp_path / name).write_text(LOG, encoding="utf-8")
        result = run("--rules", folder, "--", name, cwd=tmp_path)
        assert result.stdout.decode().startswith("Cause out-of-cheese\n"), result.stderr
    assert "Write -- before a log" in " ".join(run("--help").stdout.decode().split())


def test_secrets_are_masked_unless_asked_for(folder: str) -> None:
    log = b"export HF_TOKEN=abc123def456\nRuntimeError: the frob is out of cheese for token=abc123def456\n"
    for form in ("text", "json", "markdown", "github"):
        assert b"abc123def456" not in run("--rules", folder, "--format", form, data=log).stdout
        assert b"abc123def456" in run("--rules", folder, "--no-redact", "--format", form, data=log).stdout


def test_rules_new_makes_a_file_that_lints_once_filled_in(rules: Rules) -> None:
    message = b"widget: Loaded libwidget.so.3 version 1.2.3 but 12.5 MiB are {gone} at 0x7f12"
    result = run("rules", "new", "widget-gone", "--cause", "driver-not-loaded", data=message)
    assert result.returncode == 0
    text = result.stdout.decode()
    assert "{:soname}" in text
    assert "{:version}" in text
    assert "{:size}" in text
    assert "{{gone}}" in text
    rules.file("signatures/test/widget-gone.yaml", text)
    unfinished = run("rules", "lint", str(rules.folder)).stdout.decode()
    assert unfinished.count("still a TODO") == 3
    text = text.replace("TODO what this message says, in a few words", "A widget")
    text = text.replace("TODO a similar line that must not match", "widget: all well")
    text = text.replace("TODO the source file that prints it, or a page", "widget.c")
    rules.file("signatures/test/widget-gone.yaml", text)
    result = run("rules", "lint", str(rules.folder))
    assert result.stdout.decode().splitlines()[-1] == "0 problems", result.stdout.decode()
    assert result.returncode == 0
    result = run("rules", "test", str(rules.folder))
    assert (result.returncode, result.stdout) == (0, b"0 problems\n")


def test_a_rule_that_is_made_from_a_log_line_is_of_what_cleaning_leaves(rules: Rules) -> None:
    line = b"2024-01-01 12:00:00 ERROR frobnicator: the widget of device 3 is gone"
    text = run("rules", "new", "widget-gone", "--cause", "driver-not-loaded", data=line).stdout.decode()
    assert "templates:\n  - |-\n    frobnicator: the widget of device {:int} is gone\n" in text
    assert f"examples:\n  - |-\n    {line.decode()}\n" in text


def test_lint_says_when_it_has_no_healthy_logs(rules: Rules, tmp_path: Path) -> None:
    result = run("rules", "lint", str(rules.folder), cwd=tmp_path)
    assert result.stdout.decode().splitlines()[0].startswith("not run over healthy logs: ")
    assert b"not run over" not in run("rules", "lint", str(rules.folder)).stdout


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
    for log in ("x", LOG):  # the first fills the cache
        result = subprocess.run(
            [sys.executable, "-c", code], input=log.encode(), capture_output=True, check=True, cwd=ROOT
        )
    assert result.stderr.decode().strip() == "[]"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("slove", "did you mean the command solve?"),
        ("help", "commands are explain, solve,"),
        ("CUDA error: out of memory", "that looks like a message: echo"),
    ],
)
def test_who_names_no_file_is_told_what_was_meant(name: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("name", ["error.log", "my runs/last error.log"])
def test_a_file_that_is_not_there_is_only_not_there(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 2
    assert capsys.readouterr().err == f"cudnn-triage: {name}: cannot be read: No such file or directory\n"
