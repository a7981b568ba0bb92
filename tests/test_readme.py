"""What the documents promise: their commands, options, links and examples work."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cudnn_triage import triage
from cudnn_triage.cli import COMMANDS, FORMATS, main, parser
from cudnn_triage.knowledge.base import load

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def command(name: str) -> str:
    """The one indented line below <!-- NAME command --> in the README, as CI reads it."""
    found = re.findall(rf"<!-- {name} command -->\s*\n    (\S.*)\n\s*\n", README)
    assert len(found) == 1, f"README.md needs one line of code below <!-- {name} command -->"
    return str(found[0])


@pytest.mark.parametrize("name", ["main", "test"])
def test_the_commands_are_one_line_of_shell(name: str) -> None:
    line = command(name)
    subprocess.run(["bash", "-n"], input=line.encode(), check=True, capture_output=True)
    steps = [shlex.split(step) for step in line.split("&&")]
    assert steps[0][:3] == ["python3", "-m", "venv"]
    assert all(step[0].startswith(steps[0][3] + "/bin/") for step in steps[1:])


def test_the_main_command_installs_this_project_and_triages_a_log_of_the_repository() -> None:
    steps = [shlex.split(step) for step in command("main").split("&&")]
    assert any(step[0].endswith("/pip") and "install" in step and "." in step for step in steps)
    last = steps[-1]
    assert last[0].endswith("/bin/cudnn-triage")
    logs = [ROOT / word for word in last[1:] if not word.startswith("-")]
    assert logs
    assert all(log.is_file() for log in logs)
    assert 'cudnn-triage = "cudnn_triage.cli:program"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_main_command_names_a_cause_and_a_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(command("main").split("&&")[-1])[1:]
    assert main([*words, "--exit-code", "--color", "never"]) == 10
    told = capsys.readouterr().out
    assert any(told.startswith(cause["title"]) for cause in load().causes.values())
    assert "$ " in told


def test_the_test_command_installs_what_tests_need_and_runs_pytest() -> None:
    steps = [shlex.split(step) for step in command("test").split("&&")]
    assert any(step[0].endswith("/pip") and any(word.endswith(".[test]") for word in step) for step in steps)
    assert "pytest" in " ".join(steps[-1])


def links() -> Iterator[tuple[Path, str]]:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
            generated = document.name == "index.md"  # mkdocs --strict and scripts/check_site.py follow its links
            if not re.match(r"[a-z]+:", target) and not generated:
                yield document, target


@pytest.mark.parametrize(("document", "target"), list(links()), ids=lambda v: v.name if isinstance(v, Path) else v)
def test_relative_links_lead_to_files(document: Path, target: str) -> None:
    path, _, heading = target.partition("#")
    file = (document.parent / path).resolve() if path else document
    assert file.exists()
    assert file.is_relative_to(ROOT)
    if heading:
        headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
        assert heading in {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}


def test_the_documents_link_somewhere() -> None:
    assert len(list(links())) >= 5


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_scripts_that_are_named_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for name in re.findall(r"(?<![\w/])((?:scripts|docs|tests|src|\.ci)/[\w./-]*\w)", text):
        assert (ROOT / name).exists(), name


@cache
def help_of(*words: str) -> str:
    """What --help of a command prints; fails where the command does not exist."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as left:
        main([*words, "--help"])
    assert left.value.code == 0
    return out.getvalue()


def calls() -> list[str]:
    """What stands after the program's name wherever the documents call it; without redirections and remarks."""
    found: list[str] = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        spans = re.findall(r"`([^`\n]*cudnn-triage[^`\n]*)`", text)
        spans += re.findall(r"^(?: {4}|\t)([^`\n]*cudnn-triage[^`\n]*)$", text, re.MULTILINE)
        for block in re.findall(r"^```(?:console|sh|bash|shell|yaml)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            spans += [line for line in block.splitlines() if "cudnn-triage" in line]
        for span in spans:
            rests = re.findall(r"(?<![\w/.-])(?:\.venv/bin/)?cudnn-triage(?![\w./\"-])([^|>)#;&]*)", span)
            found += [re.split(r"\s{2,}| < ", rest)[0].strip() for rest in rests]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("call", calls())
def test_commands_and_options_in_the_documents_exist(call: str) -> None:
    words = call.split()
    path: list[str] = []
    if words and words[0] in COMMANDS:
        path.append(words[0])
        if words[0] == "rules":
            assert len(words) > 1, "rules needs an action"
            path.append(words[1])
    else:
        assert not words or words[0].startswith("-") or re.search(r"[./]|FILE|DIR", words[0]), (
            f"no command {words[0]!r}"
        )
    told = help_of(*path)
    for word in words[len(path) :]:
        if word.startswith("--"):
            assert re.search(rf"(?<![\w-]){re.escape(word.partition('=')[0])}(?![\w-])", told), word
        if word == "--format":
            assert words[words.index(word) + 1] in FORMATS


def test_the_documents_show_every_command() -> None:
    shown = {call.split()[0] for call in calls() if call}
    assert set(COMMANDS) <= shown
    assert "rules lint" in {" ".join(call.split()[:2]) for call in calls()}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_causes_that_are_named_as_an_option_exist(document: Path) -> None:
    for name in re.findall(r"--cause ([a-z-]+)", document.read_text(encoding="utf-8")):
        assert name in load().causes


def test_what_the_documents_ask_explain_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [call.split()[1:] for call in calls() if call.startswith("explain ")]
    assert asked
    for words in asked:
        assert main(["explain", *words]) == 0, words
        assert capsys.readouterr().out


def test_options_that_the_readme_names_alone_exist() -> None:
    known = {option for action in parser()._actions for option in action.option_strings}
    named = set(re.findall(r"`(--[\w-]+)(?: [A-Z]+)?`", README))
    assert named
    assert named <= known
    assert set(re.findall(r"^\| `(\w+)` \|", README, re.MULTILINE)) == set(FORMATS)


def test_the_exit_codes_of_the_readme_are_those_of_the_program() -> None:
    from cudnn_triage import cli

    (told,) = re.findall(r"^Exit code: (.*?)\n\n", README, re.MULTILINE | re.DOTALL)
    assert [int(n) for n in re.findall(r"\b\d+\b", told)] == [
        cli.OK,
        cli.FAILED,
        cli.USAGE,
        cli.DIAGNOSED,
        cli.UNEXPLAINED,
    ]


def test_the_python_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = ROOT / shlex.split(command("main"))[-1]
    (tmp_path / "error.log").write_bytes(log.read_bytes())
    monkeypatch.chdir(tmp_path)
    code, own_rules = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    told = capsys.readouterr().out.splitlines()
    cause, confidence = told[0].split()[:2]
    assert cause in load().causes
    assert 0 < float(confidence) <= 1
    assert len(told) > 5
    rule = tmp_path / "my-rules" / "signatures" / "frob-lost.yaml"
    rule.parent.mkdir(parents=True)
    rule.write_text(
        "id: frob-lost\ntitle: t\ntemplates: ['the frobnicator lost its GPU']\npoints_to: [{cause: gpu-lost, strength: certain}]\n"
        "examples: [x]\nnear_misses: [y]\nsource: tests\nread: 2026-11-29\n"
    )
    names: dict[str, Any] = {"triage": triage, "text": "the frobnicator lost its GPU"}
    exec(compile(own_rules, "README.md", "exec"), names)
    assert names["report"].diagnoses[0].cause == "gpu-lost"
