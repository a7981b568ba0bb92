"""Renderings: the answer first, evidence in place, nothing in a log can style, break out or run."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Rules
from cudnn_triage.reading import read
from cudnn_triage.redact import redacted
from cudnn_triage.render.github import annotation
from cudnn_triage.render.markdown import to_markdown
from cudnn_triage.render.terminal import console, print_report
from cudnn_triage.report import Report

HOSTILE = "\x1b[31m[bold]x[/bold]\x1b]0;title\x07 ```\n::set-output name=a::b\n@everyone <img src=x onerror=y> ![a](http://x) \u202e"


@pytest.fixture
def base(rules: Rules) -> Rules:
    rules.facts(some__version="version")
    rules.cause(
        "mismatch",
        more="fixes:\n  - {title: Do it, safety: reversible, commands: ['pip install \"x=={some.version}\"'], verify: [check], why: It helps., source: s, read: 2026-11-20}\n"
        "dead_ends: [{tried: Praying, why: it does nothing}]\nreferences: [{title: Page, url: 'https://example.org', read: 2026-11-20}]",
    )
    rules.cause("other")
    rules.cause("chatter", family="benign", severity="benign")
    rules.signature(
        "loaded",
        "Loaded library {some.version:version} but wanted another",
        more="points_to: [{cause: mismatch, strength: strong}, {cause: other, strength: likely}]",
    )
    rules.points("noise", "this message is harmless chatter", "chatter", "certain", more="survived: true")
    return rules


LOG = (
    "start\nthis message is harmless chatter\n"
    + "x" * 90
    + " E: Loaded library 8.0.5 but wanted another one "
    + "y" * 90
    + "\nend"
)


def make(base: Rules, text: str = LOG) -> Report:
    return base.triager().triage(read(text.encode("utf-8", "surrogateescape"), "error.log")[0])


def terminal(report: Report, width: int = 80, encoding: str = "utf-8", color: bool | None = False) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline="\n")
    print_report(report, console(stream, width, color))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_the_first_line_of_every_rendering_is_the_answer(base: Rules) -> None:
    report = make(base)
    assert terminal(report).startswith("Cause mismatch\n")
    assert to_markdown(report).startswith("**Cause mismatch**")
    assert annotation(report).startswith("::error title=mismatch")
    assert "Cause mismatch" in annotation(report)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_evidence_is_pointed_at_like_a_compiler_does(base: Rules, width: int) -> None:
    lines = terminal(make(base), width).splitlines()
    assert max(map(len, lines)) <= width
    (row,) = [i for i, line in enumerate(lines) if line.startswith("3 | ")]
    carets = lines[row + 1]
    start, end = carets.index("^"), carets.rindex("^") + 1
    assert lines[row][start:end] == "Loaded library 8.0.5 but wanted another"
    assert lines[row - 1].strip() == "--> error.log:3:95"


def test_terminal_without_colour_has_no_escapes_and_with_colour_has(base: Rules) -> None:
    assert "\x1b" not in terminal(make(base))
    assert "\x1b[" in terminal(make(base), color=True)


def test_a_terminal_that_lacks_unicode(base: Rules) -> None:
    text = terminal(make(base, LOG.replace("wanted another", "wanted another") + "\n日本語"), 60, "ascii")
    assert "Cause mismatch" in text
    assert "?" not in "".join(line for line in text.splitlines() if line.startswith("3 |"))


def test_fixes_dead_ends_and_alternatives_are_shown(base: Rules) -> None:
    for text in (terminal(make(base)), to_markdown(make(base))):
        assert 'pip install "x==8.0.5"' in text
        assert "Praying" in text
        assert "other" in text
        assert "https://example.org" in text


def test_nothing_in_a_log_styles_the_terminal_or_breaks_markdown(base: Rules) -> None:
    report = make(base, f"{HOSTILE} Loaded library 8.0.5 but wanted another {HOSTILE}\nCUDA error failed {HOSTILE}")
    plain = terminal(report)
    assert "\x1b" not in plain
    assert "\u202e" not in plain
    assert not re.search(r"^::", plain, re.MULTILINE)
    outside = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", to_markdown(report), flags=re.MULTILINE | re.DOTALL)
    for bad in ("@everyone", "<img", "![a]", "::set-output", "\x1b"):
        assert bad not in outside
    assert not re.search(r"^::", to_markdown(report), re.MULTILINE)
    command = annotation(report)
    assert command.count("\n") == 1
    assert command.startswith("::error ")


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300))
def test_any_text_renders(base: Rules, text: str) -> None:
    report = make(base, text.replace("\x00", "") + "\nE: Loaded library 8.0.5 but wanted another " + text)
    plain = terminal(report, 60)
    assert "\x1b" not in plain
    assert annotation(report).count("\n") == 1
    to_markdown(report)


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "hf_abcdefghijklmnopqrstuvwxyzABCD",
        "AKIAIOSFODNN7EXAMPLE",
        "sk-proj-abcdefghijklmnopqrstuvwx",
        "https://someone:hunter2secret@example.org/x",
        "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567",
        "password: correcthorse",
        "Authorization: Bearer abcdefghijklmnop",
    ],
)
def test_secrets_are_masked_in_every_rendering(base: Rules, secret: str) -> None:
    report = redacted(make(base, f"CUDA error failed near {secret}\n{secret} Loaded library 8.0.5 but wanted another"))
    hidden = secret.split("=")[-1].split(": ")[-1].split("@")[0].rpartition(":")[2].strip()
    for text in (report.to_json(), to_markdown(report), terminal(report, 200), annotation(report)):
        assert hidden not in text


def test_masking_leaves_ordinary_text_alone() -> None:
    text = "tokens per second: 12345678, key error: 'password', max_tokens=4096, https://example.org/a:b@c"
    assert redacted(text) == text
