"""Renderings: the answer first, evidence in place, nothing in a log can style, break out or run."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from conftest import Rules
from cudnn_triage.engine import triage
from cudnn_triage.reading import read
from cudnn_triage.redact import MASK, masked, redacted
from cudnn_triage.render.github import annotation
from cudnn_triage.render.markdown import heading, to_markdown
from cudnn_triage.render.terminal import Sheet, console, print_name, print_report
from cudnn_triage.report import EvidenceItem, Report

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


def make(base: Rules, text: str = LOG, name: str = "error.log") -> Report:
    return base.triager().triage(read(text.encode("utf-8", "surrogateescape"), name)[0])


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


def pointed_at(lines: list[str], number: int) -> str:
    """What the carets under the row of this log line stand below, column by column."""
    (row,) = [i for i, line in enumerate(lines) if line.startswith(f"{number} | ")]
    start, end = lines[row + 1].index("^"), lines[row + 1].rindex("^") + 1
    column, text = 0, ""
    for char in lines[row]:
        text += char if start <= column < end else ""
        column += cell_len(char)
    return text


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_evidence_is_pointed_at_like_a_compiler_does(base: Rules, width: int) -> None:
    lines = terminal(make(base), width).splitlines()
    assert max(map(len, lines)) <= width
    assert pointed_at(lines, 3) == "Loaded library 8.0.5 but wanted another"
    assert "--> error.log:3:95" in [line.strip() for line in lines]


@pytest.mark.parametrize("width", [60, 81, 300])
@pytest.mark.parametrize("far", [3, 50, 2000])
def test_carets_and_widths_count_columns_not_characters(base: Rules, width: int, far: int) -> None:
    log = "错误" * far + " Loaded library 8.0.5 but wanted another " + "漢字か" * far
    lines = terminal(make(base, log, "日志.log"), width).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert pointed_at(lines, 1) == "Loaded library 8.0.5 but wanted another"


def test_evidence_that_is_itself_wide(base: Rules) -> None:
    report, text = make(base), "x" * 61 + "错误 无法加载动态库文件 " + "请" * 90
    item = EvidenceItem("signature", "x", "exact", "log", 1, 65, text, True, "because", (), 64, 9)
    report = replace(report, diagnoses=(replace(report.diagnoses[0], evidence=(item,)),))
    for width in (60, 61, 80):
        lines = terminal(report, width).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert pointed_at(lines, 1) == "无法加载动态库文件"


@pytest.mark.parametrize(
    "text", ["RuntimeError: CUDA error failed " + "x" * 1_200_000, "RuntimeError: " + "错" * 400_000]
)
def test_the_first_line_is_one_row_however_long_the_failing_line_is(base: Rules, text: str) -> None:
    report = make(base, f'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n{text}\n')
    assert not report.diagnoses
    for width in (40, 100):
        lines = terminal(report, width).splitlines()
        assert max(map(cell_len, lines)) <= width
        assert len(lines) < 20
    long = replace(report, summary="No GPU cause found: " + text)
    assert cell_len(terminal(long, 80).splitlines()[0]) <= 80
    assert len(annotation(long)) < 1000
    assert max(map(len, to_markdown(long).splitlines())) < 400


def test_rows_are_wrapped_under_their_label_and_end_without_blanks(base: Rules) -> None:
    base.cause(
        "mismatch",
        more="fixes:\n  - {title: Do it, safety: reversible, applies: machines of a kind that takes very many words to describe, commands: ['# a remark', run this], verify: [check], why: It helps those who have much more patience than time., source: s, read: 2026-11-20}",
    )
    lines = terminal(make(base), 60).splitlines()
    assert all(line == line.rstrip() for line in lines)
    at = lines.index("Fix [reversible]: Do it")
    assert lines[at + 1].startswith("  for: machines of a kind")
    assert lines[at + 2].startswith("       ")
    assert "    # a remark" in lines
    assert "  $ run this" in lines
    assert "  check: check" in lines


def test_a_close_second_is_named_beside_the_first(base: Rules) -> None:
    report = make(base)
    best, second = report.diagnoses
    close = replace(report, diagnoses=(replace(best, confidence=0.5), replace(second, confidence=0.4)))
    assert terminal(close).splitlines()[1] == "mismatch  50% likely, suspected; or other 40%"
    clear = replace(report, diagnoses=(replace(best, confidence=0.9), replace(second, confidence=0.1)))
    assert terminal(clear).splitlines()[1] == "mismatch  90% likely, suspected"


def test_a_fact_is_no_place_in_the_log(base: Rules) -> None:
    report = make(base)
    fact = EvidenceItem("fact", "x", "exact", "log", 7, 0, "a.b = 3", True, "because a.b is 3")
    text = terminal(replace(report, diagnoses=(replace(report.diagnoses[0], evidence=(fact,)),)))
    assert "  = because a.b is 3 (a.b = 3; line 7)" in text
    assert "-->" not in text


def test_terminal_without_colour_has_no_escapes_and_with_colour_has(base: Rules) -> None:
    assert "\x1b" not in terminal(make(base))
    assert "\x1b[" in terminal(make(base), color=True)


@pytest.mark.parametrize(("encoding", "dots"), [("ascii", "..."), ("latin-1", "..."), ("gbk", "…"), ("utf-8", "…")])
def test_a_terminal_that_lacks_unicode(base: Rules, encoding: str, dots: str) -> None:
    log = LOG.replace(" E: ", " 日本語: ")
    lines = terminal(make(base, log), 60, encoding).splitlines()
    assert lines[0] == "Cause mismatch"
    assert max(map(cell_len, lines)) <= 60
    assert pointed_at(lines, 3) == "Loaded library 8.0.5 but wanted another"
    (row,) = [line for line in lines if line.startswith("3 | ")]
    assert row.startswith(f"3 | {dots}")
    assert row.endswith(dots)
    assert ("日本語: " if encoding in ("gbk", "utf-8") else "???: ") in row


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


NAMES = [
    "\x1b[31mred\x1b]0;title\x07.log",
    "a\n::set-output name=x::y\n.log",
    "@everyone <img src=x onerror=y> ![a](http://x).log",
    "a```b`.log",
    "```\n# Title\n```",
    "\u202egol.txt\u2028::error::x",
    "\udcff\udcfe.log",
    "x" * 5000,
]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_in_the_name_of_a_log_styles_breaks_out_or_commands(base: Rules, name: str) -> None:
    report = make(base, name=name)
    stream = io.StringIO()
    print_name(name, console(stream, 80, False))
    for text in (terminal(report), stream.getvalue()):
        assert not re.search(r"[\x1b\x07\u202e\u2028]|^::|^#", text, re.MULTILINE)
        assert max(map(cell_len, text.splitlines())) <= 80
    assert len(stream.getvalue().splitlines()) == 1
    title = heading(name)
    assert re.fullmatch(r"### (`+)[^\n]*[^\n`] ?\1\n\n", title)
    mark = re.match(r"### (`+)", title)
    assert mark is not None
    assert mark[1] not in title[len(mark[0]) : -2 - len(mark[1])].replace("`" * (len(mark[1]) + 1), "")
    command = annotation(report)
    assert command.count("\n") == 1
    assert not re.search(r"[\x1b\x07\u202e\u2028]", command)
    to_markdown(report).encode()
    command.encode()


def test_a_sheet_looks_like_its_stream_to_rich(base: Rules) -> None:
    sheet = Sheet(io.TextIOWrapper(io.BytesIO(), encoding="latin-1"))
    print_report(make(base), console(sheet, 60, None))
    assert "..." in sheet.getvalue()
    assert "\x1b" not in sheet.getvalue()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=300))
def test_any_text_renders(base: Rules, text: str) -> None:
    report = make(base, text.replace("\x00", "") + "\nE: Loaded library 8.0.5 but wanted another " + text)
    plain = terminal(report, 60)
    assert "\x1b" not in plain
    assert annotation(report).count("\n") == 1
    to_markdown(report)


SECRETS = [
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("hf_abcdefghijklmnopqrstuvwxyzABCD", "hf_abcdefghijklmnopqrstuvwxyzABCD"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("sk-proj-abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx"),
    ("at\\neyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abcDEF_1", "eyJzdWIiOiIxMjM0"),
    ("https://someone:hunter2secret@example.org/x", "hunter2secret"),
    ("mysql://user:p@ss@host/db", "ss@"),
    ("postgres://user:pa/ss@host/db", "ss@"),
    ("git+https://u:s3cr3t@github.com/x/y@main", "s3cr3t"),
    ("https://0123456789abcdef01234567@example.org", "0123456789abcdef01234567"),
    ("WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef01234567"),
    ("WANDB_KEY=0123456789abcdef0123456789abcdef01234567", "0123456789abcdef0123456789abcdef01234567"),
    ("password: correcthorse", "correcthorse"),
    ('{"password": "correct horse", "user": 1}', "horse"),
    ('{\\"password\\": \\"correct horse\\", \\"user\\": 1}', "horse"),
    ("password='it\\'s long'", "long"),
    ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
    ("'authorization': 'Basic YWJjOmRlZg=='", "YWJjOmRlZg"),
    ("os.environ['HF_TOKEN'] = 'abc123def'", "abc123def"),
    ('os.environ["HF_TOKEN"]="abc"', '"abc"'),
    ("--token abc123def", "abc123def"),
    ("--hf-token=abcdefgh", "abcdefgh"),
    ("--password swordfish", "swordfish"),
    ("['x.py', '--token', 'abc123def']", "abc123def"),
    ("token: abc123def456", "abc123def456"),
    ("token=aBcDeFgHiJkL", "aBcDeFgHiJkL"),
    ("https://example.org/x?token=abcdefgh&y=1", "abcdefgh"),
    ("db_pwd=swordfish", "swordfish"),
    ("password: str = 'hunter22'", "hunter22"),
    ("AWS_SECRET_ACCESS_KEY=wJalr/XUtn+FE", "wJalr"),
    ("accessToken: Xy12abZZ9", "Xy12abZZ9"),
    ("client_secret=swordfish", "swordfish"),
    ("credential: Sw0rdfish9", "Sw0rdfish9"),
    ("Connect(password=abc, port=1)", "abc"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_secrets_are_masked_in_every_rendering(base: Rules, text: str, secret: str) -> None:
    log = f"CUDA error failed near {text}\n{text} Loaded library 8.0.5 but wanted another {text}"
    report = triage(log, name=f"{text}.log", knowledge=base.knowledge())
    assert report.diagnoses
    for shown in (report.to_json(), to_markdown(report), terminal(report, 200), annotation(report)):
        assert secret not in shown
        assert MASK in shown
    assert secret in triage(log, knowledge=base.knowledge(), redact=False).to_markdown()
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "text",
    [
        "tokens per second: 12345678, key error: 'password', max_tokens=4096, https://example.org/a:b@c",
        "max_tokens=4096",
        "tokens per second: 123",
        "num_key_value_heads=8",
        "KeyError: token",
        "KeyError: 'api_key'",
        "tokenizer: x",
        "tokenizer_class=LlamaTokenizerFast2",
        "pad_token: <pad>",
        "pad_token='<|reserved_special_token_0|>'",
        "mask_token = AddedToken('[MASK]', rstrip=False)",
        "eos_token_id: 2",
        "eos_token: </s>, unk_token=[UNK]",
        "--instance_token sks",
        "sort key: name",
        "primary_key=UserIdentifier",
        "missing_key: transformer.h.11.attn.bias",
        "lora_key: lora_unet_down_blocks_0_attentions_0",
        "tokenizer_key=meta-llama/Llama-2-7b-hf",
        "token: Optional[str] = None",
        "login(token=token, hf_token=self.hf_token, use_auth_token=True)",
        "api_key=os.environ['OPENAI_API_KEY']",
        "huggingface-cli login --token $HF_TOKEN",
        "PWD=/home/someone/Project1",
        "using password: YES",
        "Unexpected token: }",
        "tcp://10.0.0.1:29500, git@github.com:a/b, ssh://git@github.com/a",
        "http://localhost:8080/@scope/x",
        "Invalid credentials: access denied",
        "sk-learn is no key",
    ],
)
def test_masking_leaves_ordinary_text_alone(text: str) -> None:
    assert masked(text) == text


def test_masking_moves_the_evidence_with_its_text(base: Rules) -> None:
    secret = "password=" + "s3cr3t" * 5
    log = f"{secret} and {secret} Loaded library 8.0.5 but wanted another {secret}"
    report = triage(log, knowledge=base.knowledge())
    item = report.diagnoses[0].evidence[0]
    assert item.text[item.offset : item.offset + item.length] == "Loaded library 8.0.5 but wanted another"
    assert pointed_at(terminal(report, 100).splitlines(), 1) == "Loaded library 8.0.5 but wanted another"
    inside = EvidenceItem("signature", "x", "exact", "log", 1, 1, "a token=abc123def456 b", True, "", (), 2, 18)
    assert (redacted(inside).text, redacted(inside).offset, redacted(inside).length) == ("a token=*** b", 2, 9)
    within = replace(inside, offset=10, length=4)
    assert (redacted(within).offset, redacted(within).length) == (8, 3)
    nowhere = replace(inside, line=0, offset=0, length=0)
    assert (redacted(nowhere).offset, redacted(nowhere).length) == (0, 0)


@given(
    st.lists(
        st.sampled_from([*(text for text, _ in SECRETS), " ", "=", "'", '"', "\\", "@", "://", "evidence", ","]),
        max_size=12,
    )
)
def test_evidence_stays_within_its_text(parts: list[str]) -> None:
    text = "".join(parts)
    for offset in range(0, len(text), 5):
        item = redacted(EvidenceItem("signature", "x", "exact", "log", 1, 1, text, True, "", (), offset, 4))
        assert item.text == masked(text)
        assert 0 <= item.offset <= item.offset + item.length
        assert item.offset < len(item.text)


@pytest.mark.parametrize(
    "storm",
    [
        "eyJ-", "eyJaaaaaaaaaaaa.", "sk-", "a", "token=", "token:", "_key=", 'token="', "token=\\\"", "password={", "--token ", "://a:b",
        "@", "bearer a", "token=,", "Loaded library 8.0.5 ", "-----BEGIN PRIVATE KEY-----", "password=none,",
    ],
)  # fmt: skip
def test_masking_survives_any_storm(storm: str) -> None:
    """Speed is measured by benchmarks/compare.py growth; a quadratic pattern would not come back from this."""
    text = "plain words stay\n" + storm * (200_000 // len(storm))
    assert masked(text).startswith("plain words stay\n")


def test_the_next_step_of_a_failure_outside_the_field_is_shown(base: Rules) -> None:
    step = "{title: Empty the disk, safety: destructive, when: seen(full), commands: [df], verify: [v], why: w, source: s, read: 2026-11-20}"
    strong = "{when: failure.explained == no and failure.vocabulary == no, strength: strong, why: w}"
    base.cause("elsewhere", family="benign", more=f"evidence: [{strong}]\nfixes: [{step}]")
    base.points("full", "No space left on device", "elsewhere")
    report = make(
        base,
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nOSError: No space left on device',
    )
    assert "Next step [destructive]: Empty the disk\n  $ df\n" in terminal(report)
    assert "**Next step: Empty the disk**" in report.to_markdown()


def test_what_is_wrong_as_well_beside_a_failure_outside_the_field_is_shown(base: Rules) -> None:
    strong = "{when: failure.explained == no and failure.vocabulary == no, strength: strong, why: w}"
    base.cause("elsewhere", family="benign", more=f"evidence: [{strong}]")
    base.cause("old-build")
    base.points("no-code", "this build has no code for the card", "old-build", "certain", more="survived: true")
    failed = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: 3'
    report = make(base, f"this build has no code for the card\n{failed}")
    (item,) = report.also
    shown = terminal(report)
    assert shown.index("Wrong as well") < shown.index(f"{item.title} ({item.cause})")
    assert f"Wrong as well, once that is mended:\n\n- line 1: {item.title} (`{item.cause}`)\n" in report.to_markdown()
    assert "Wrong as well" not in terminal(make(base, failed))


def test_a_line_on_which_several_messages_stand_is_shown_once_with_what_each_means(base: Rules) -> None:
    base.points("wanted", "but wanted another", "mismatch")
    shown = terminal(make(base))
    assert shown.count("E: Loaded library 8.0.5") == 1
    assert shown.index("  = Message loaded") < shown.index("  = Message wanted")
