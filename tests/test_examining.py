"""The command line's look at a machine: --probe, --facts, probe and verify, with probes that say what a test wants."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from conftest import Rules, heed_interrupts
from cudnn_triage.cli import main
from cudnn_triage.probing import bundle

ROOT = Path(__file__).resolve().parents[1]
FACTS = """
area: test
facts:
  card.present: {type: word, title: whether there is a card, ask: lspci}
  card.size: {type: size, title: memory of the card}
  card.wanted: {type: size, title: memory that the program wants}
  python.site: {type: any, title: folders of packages}
  host.key: {type: any, title: a key}
"""
PROBES = """
probes:
  - {id: card, title: the card, cost: '1', seconds: '60', examines: interpreter, reads: [card.present, card.size, card.wanted, python.site, host.key]}
  - {id: deep, title: the depths, cost: '5', seconds: '60', examines: machine, reads: [card.size]}
elsewhere:
  - {when: not log.python.site == python.site, why: another environment}
"""
PRELUDE = """from __future__ import annotations
import json, os, sys, time
def say(**what):
    print(json.dumps(what), flush=True)
def fact(name, value):
    say(fact=name, value=value)
"""
LOG = "RuntimeError: the card is gone entirely"


@pytest.fixture
def base(rules: Rules, monkeypatch: pytest.MonkeyPatch) -> Rules:
    rules.file("facts/test.yaml", FACTS)
    rules.file("probes.yaml", PROBES)
    rules.cause(
        "no-card",
        "confirm: [{when: card.present == no, why: there is no card, alone: 'true'}]\n"
        "refute: [{when: card.present == yes, why: the card is there}]",
        family="device",
    )
    rules.cause("too-big", "confirm: [{when: card.size < log.card.wanted, why: it does not fit}]", family="memory")
    rules.cause("odd", family="program")
    rules.points("gone", "the card is gone entirely", "no-card")
    rules.points("wants", "the program wants {card.wanted:size} of the card", "too-big")
    rules.points("strange", "something strange has happened to the card", "odd")
    say(monkeypatch, card="fact('card.present', 'no')\nsay(end='ok')")
    for module in ("cli", "examining"):
        monkeypatch.setattr(f"cudnn_triage.{module}.knowledge", lambda folders: rules.knowledge())
    return rules


def say(monkeypatch: pytest.MonkeyPatch, **programs: str) -> None:
    texts = {
        f"scripts/{name}.py": text for name, text in {"prelude": PRELUDE, "deep": "say(end='ok')", **programs}.items()
    }
    real = bundle.text_of
    monkeypatch.setattr(bundle, "text_of", lambda name: texts[name] if name in texts else real(name))


def call(base: Rules, tmp_path: Path, *args: str, log: str | None = LOG) -> int:
    if log is None:
        return main(list(args))
    file = tmp_path / "error.log"
    file.write_text(log, encoding="utf-8")
    return main([*args, str(file)])


def test_a_hypothesis_is_confirmed_and_the_reading_shown(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(base, tmp_path, "--probe", "--python", sys.executable, "--width", "120") == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == "Cause no-card"
    assert "confirmed on this machine" in lines[1]
    assert "confirmed on this machine: there is no card (card.present = no)" in out
    assert f"{sys.executable} (asked for by --python)" in out
    assert "looking at the card (card): is it no-card?" in err
    assert "deep" not in err


def test_the_json_report_fits_its_schema_and_says_what_was_looked_at(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(base, tmp_path, "--probe", "--python", sys.executable, "--format", "json") == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, json.loads((ROOT / "docs" / "report.schema.json").read_text(encoding="utf-8")))
    assert data["diagnoses"][0]["status"] == "confirmed"
    assert [(p["name"], p["status"], p["why"]) for p in data["probes"]] == [("card", "ok", "is it no-card?")]
    assert {"name": "card.present", "value": "no", "origin": "local", "line": 0} in data["facts"]
    assert data["machine"]["readings"] == "used"


def test_what_frameworks_print_while_they_are_examined_is_read_like_a_log(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    base.cause("too-big", "confirm: [{when: card.size < card.wanted, why: it does not fit}]", family="memory")
    message = "OSError: the program wants 2 GiB of the card"
    say(monkeypatch, card=f"fact('card.size', 1 << 30)\nsay(message={message!r}, of='import')\nsay(end='ok')")
    call(base, tmp_path, "--probe", "--format", "json", log="RuntimeError: the program wants 1 GiB of the card")
    data = json.loads(capsys.readouterr().out)
    assert data["diagnoses"][0]["status"] == "confirmed"
    assert data["diagnoses"][0]["evidence"][0]["text"] == "card.size = 1073741824, card.wanted = 2147483648"


@pytest.mark.parametrize("form", ["markdown", "github"])
def test_the_other_renderings_tell_it_too(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    call(base, tmp_path, "--probe", "--format", form)
    out = capsys.readouterr().out
    assert "confirmed on this machine: there is no card (card.present = no)" in out


def test_a_hypothesis_is_ruled_out(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, card="fact('card.present', 'yes')\nsay(end='ok')")
    call(
        base,
        tmp_path,
        "--probe",
        "--width",
        "120",
        log=f"{LOG}\nRuntimeError: something strange has happened to the card",
    )
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "Cause odd"
    assert "Ruled out on this machine" in out
    assert "no-card  the card is there (card.present = yes)" in out


def test_a_crashing_probe_settles_nothing_and_is_shown(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, card="say(stage='look')\nos.abort()")
    call(base, tmp_path, "--probe", "--format", "json")
    data = json.loads(capsys.readouterr().out)
    assert data["diagnoses"][0]["status"] == "suspected"
    assert data["probes"][0]["status"] in ("crashed", "failed")
    if os.name != "nt":
        assert data["probes"][0]["reason"] == "SIGABRT while at: look"


TRACE = """Traceback (most recent call last):
  File "/elsewhere/lib/python3.9/site-packages/torch/nn/x.py", line 3, in f
    g()
RuntimeError: the card is gone entirely
"""


def test_a_log_from_another_environment_is_said_to_be(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = "fact('card.present', 'no')\nfact('python.site', '/usr/lib/python3/dist-packages')\nsay(end='ok')"
    say(monkeypatch, card=program)
    call(base, tmp_path, "--probe", "--width", "200", log=TRACE)
    out = capsys.readouterr().out
    assert "suspected" in out.splitlines()[1]
    assert "The log does not seem to be from this machine" in out
    assert "another environment (python.site = /elsewhere/lib/python3.9/site-packages in the log" in out
    call(base, tmp_path, "--probe", "--assume-local", log=TRACE)
    assert "confirmed on this machine" in capsys.readouterr().out.splitlines()[1]
    say(monkeypatch, card=program.replace("/usr/lib/python3/dist-packages", "/elsewhere/lib/python3.9/site-packages"))
    call(base, tmp_path, "--probe", log=TRACE)
    assert "confirmed on this machine" in capsys.readouterr().out.splitlines()[1]


def test_readings_travel_in_a_file(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(
        monkeypatch,
        card="fact('card.present', 'no')\nfact('host.key', 'AWS_SECRET_ACCESS_KEY=' + 'aB3' * 12)\nsay(end='ok')",
    )
    saved = tmp_path / "node7.json"
    assert call(base, tmp_path, "--probe", "--save-facts", str(saved)) == 0
    assert "aB3aB3" not in saved.read_text(encoding="utf-8")
    capsys.readouterr()
    say(monkeypatch, card="raise SystemExit('must not run')")
    assert call(base, tmp_path, "--facts", str(saved)) == 0
    assert "confirmed on the machine of node7.json" in capsys.readouterr().out.splitlines()[1]
    assert call(base, tmp_path, "probe", "--facts", str(saved), "--exit-code", log=None) == 10


@pytest.mark.parametrize("form", ["text", "markdown", "github", "json"])
def test_nothing_in_a_file_of_readings_styles_the_terminal_or_breaks_out_of_markdown(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    evil = "\x1b[31m```\n::error::x @all <b>"
    deep: object = evil
    for _ in range(200):
        deep = [deep]
    lines = [
        {"fact": "card.present", "value": "no"},
        {"fact": "host.key", "value": evil},
        {"fact": [evil], "value": {}},
        {"record": evil, "value": {evil: [evil, None, 1.5, {evil: evil}]}},
        {"record": "deep", "value": deep},
        {"message": evil, "absent": evil},
    ]
    runs = [
        {"probe": "card", "status": "ok", "reason": evil, "seconds": 1, "lines": lines},
        {"probe": evil, "status": "crashed", "crashed": evil, "stage": evil, "lines": []},
    ]
    saved = tmp_path / "x ```@all.json"
    data = {"format": "cudnn-triage readings", "version": 1, "interpreter": evil, "probes": runs}
    saved.write_text(json.dumps(data), encoding="utf-8")
    for args, log in ((["--format", form], LOG), (["probe", "--format", form, "--verbose"], None)):
        assert call(base, tmp_path, *args, "--facts", str(saved), log=log) == 0
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err
        assert "\n::error::" not in out
        if form == "markdown":
            outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", out)
            assert "@all" not in outside
            assert "<b>" not in outside
    assert call(base, tmp_path, "verify", "no-card", "--facts", str(saved), log=None) == 10
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--python", "python3"], "--python says how to look at a machine; add --probe"),
        (["--assume-local"], "--assume-local says how to look at a machine; add --probe"),
        (["--save-facts", "x"], "add --probe"),
        (["--facts", "no/such/file"], "--facts no/such/file: "),
        (["--probe", "--venv", "no/such"], "--venv no/such: no Python interpreter in"),
    ],
)
def test_wrong_usage_is_told(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], args: list[str], said: str
) -> None:
    assert call(base, tmp_path, *args) == 2
    assert said in capsys.readouterr().err


def test_the_doctor_answers_in_its_first_line(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(base, tmp_path, "probe", "--exit-code", log=None) == 10
    out, err = capsys.readouterr()
    assert out.splitlines()[:2] == ["Cause no-card", "no-card  confirmed on this machine"]
    assert "deep" in err
    say(
        monkeypatch,
        card="fact('card.present', 'yes')\nsay(record='gpu', value={'name': 'T4', 'memory': 1 << 34})\nsay(end='ok')",
    )
    assert call(base, tmp_path, "probe", "--exit-code", log=None) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "No fault was found on this machine."
    assert "gpu: name T4, memory 16384 MiB" in out


def test_probes_are_listed_chosen_and_printed(base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(base, tmp_path, "probe", "--list", log=None) == 0
    assert "card: the card" in capsys.readouterr().out
    assert call(base, tmp_path, "probe", "deep", log=None) == 0
    assert "card" not in capsys.readouterr().err
    assert call(base, tmp_path, "probe", "no-such", log=None) == 2
    assert "no probe 'no-such'; known:" in capsys.readouterr().err
    assert call(base, tmp_path, "probe", "--script", log=None) == 0
    compile(capsys.readouterr().out, "script", "exec")


def test_verify_says_gone_still_there_or_cannot_tell(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call(base, tmp_path, "verify", "no-card", log=None) == 10
    assert capsys.readouterr().out.startswith(
        "Still there: no-card (Cause no-card), on this machine\n  there is no card ("
    )
    say(monkeypatch, card="fact('card.present', 'yes')\nsay(end='ok')")
    assert call(base, tmp_path, "verify", "no-card", log=None) == 0
    out = capsys.readouterr().out
    assert out.startswith("Gone: no-card")
    assert "What was read:\n  whether there is a card (card.present) = yes\n" in out
    say(monkeypatch, card="raise ValueError('odd')")
    assert call(base, tmp_path, "verify", "no-card", log=None) == 11
    assert "The probe card failed: " in capsys.readouterr().out
    say(monkeypatch, card="say(end='ok')")
    assert call(base, tmp_path, "verify", "no-card", log=None) == 11
    out = capsys.readouterr().out
    assert out.startswith("Cannot tell: no-card")
    assert "whether there is a card (card.present): lspci" in out


def test_verify_cannot_tell_where_what_the_cause_is_about_is_not_there(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    base.file("facts/test.yaml", FACTS.replace("whether there is a card,", "whether there is a card, premise: true,"))
    base.cause("tiny", "confirm: [{when: card.present == yes and card.size < 5, why: it is tiny}]", family="memory")
    say(monkeypatch, deep="say(end='ok')")
    assert call(base, tmp_path, "verify", "tiny", log=None) == 11
    assert "whether there is a card (card.present): lspci" in capsys.readouterr().out
    say(monkeypatch, card="fact('card.present', 'yes')\nfact('card.size', 9)\nsay(end='ok')")
    assert call(base, tmp_path, "verify", "tiny", log=None) == 0
    say(monkeypatch, card="fact('card.present', 'yes')\nfact('card.size', 2)\nsay(end='ok')")
    assert call(base, tmp_path, "verify", "tiny", log=None) == 10


def test_verify_compares_with_the_log_where_the_cause_is_told_so(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, card="fact('card.size', 100)\nsay(end='ok')", deep="say(end='ok')")
    log = "RuntimeError: the program wants 200 bytes of the card"
    assert call(base, tmp_path, "verify", "too-big", log=None) == 11
    assert "cudnn-triage verify too-big FILE" in capsys.readouterr().out
    assert call(base, tmp_path, "verify", "too-big", log=log) == 10
    capsys.readouterr()
    say(monkeypatch, card="fact('card.size', 300)\nsay(end='ok')")
    assert call(base, tmp_path, "verify", "too-big", "--format", "json", log=log) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["verdict"] == "gone"
    assert told["readings"]["card.size"] == ["300"]


def test_verify_of_what_no_machine_can_tell_says_so(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(base, tmp_path, "verify", "odd", log=None) == 11
    assert "run the program again and look at its log" in capsys.readouterr().out
    assert call(base, tmp_path, "verify", "no-crad", log=None) == 2
    assert "nearest: no-card" in capsys.readouterr().err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_interrupting_the_tool_while_probes_run_leaves_no_process_behind(base: Rules, tmp_path: Path) -> None:
    mark = f"probe-interrupted-{os.getpid()}"
    child = f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', '{mark}'])"
    texts = {
        "scripts/prelude.py": PRELUDE,
        "scripts/card.py": f"import subprocess\n{child}\ntime.sleep(60)",
        "scripts/deep.py": "time.sleep(60)",
    }
    program = f"""
import sys
from pathlib import Path
import cudnn_triage.examining as examining
from cudnn_triage.cli import main
from cudnn_triage.knowledge.base import Knowledge, compile_folders
from cudnn_triage.probing import bundle
real, texts = bundle.text_of, {texts!r}
bundle.text_of = lambda name: texts[name] if name in texts else real(name)
examining.knowledge = lambda folders: Knowledge(compile_folders([Path({str(base.folder)!r})]))
sys.exit(main(["probe"]))
"""
    tool = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_interrupts
    )
    assert _wait(lambda: _alive(mark))
    tool.send_signal(signal.SIGINT)
    assert tool.wait(30) == 130
    assert _wait(lambda: not _alive(mark))


def _wait(condition: object) -> bool:
    assert callable(condition)
    for _ in range(300):
        if condition():
            return True
        time.sleep(0.1)
    return False


def _alive(mark: str) -> bool:
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parts = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark.encode() in parts:
            return True
    return False


PROBING = pytest.mark.parametrize("words", [["--probe"], ["probe"], ["verify", "no-card"]])


@PROBING
def test_a_bad_place_for_readings_is_told_before_anything_is_run(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cudnn_triage.examining.Examination.run", lambda *_: pytest.fail("a probe ran"))
    log = LOG if words == ["--probe"] else None
    for place, why in (("no/x.json", "No such file or directory"), ("", "Is a directory")):
        assert call(base, tmp_path, *words, "--save-facts", str(tmp_path / place), log=log) == 2
        told = capsys.readouterr()
        assert (told.out, told.err) == ("", f"cudnn-triage: --save-facts {tmp_path / place}: {why}\n")


def test_the_place_for_readings_stays_as_it_is_until_they_are_there(
    base: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("the readings of yesterday", encoding="utf-8")
    for place in (old, new):
        monkeypatch.setattr("cudnn_triage.examining.Examination.run", _interrupted)
        assert call(base, tmp_path, "probe", "--save-facts", str(place), log=None) == 130
    assert old.read_text(encoding="utf-8") == "the readings of yesterday"
    assert not new.exists()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@PROBING
def test_a_place_that_takes_no_readings_costs_no_answer(
    base: Rules, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    log = "RuntimeError: the program wants 200 bytes of the card" if words == ["--probe"] else None
    assert call(base, tmp_path, *words, "--save-facts", "/dev/full", log=log) == 2
    told = capsys.readouterr()
    assert len(told.out.splitlines()) > 1
    assert "--save-facts /dev/full: No space left on device" in told.err
