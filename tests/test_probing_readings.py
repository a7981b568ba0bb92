"""Readings as data, facts and files; the interpreter under examination; programs made of parts."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Rules
from cudnn_triage.knowledge.base import Knowledge, load
from cudnn_triage.probing import bundle, interpreters, readings
from cudnn_triage.probing.examination import Examination
from cudnn_triage.probing.interpreters import Interpreter, NoInterpreter, choose
from cudnn_triage.probing.readings import Outcome, ReadingsError, typed
from cudnn_triage.redact import masked
from cudnn_triage.values import version

FACTS = """
area: test
facts:
  driver.present: {type: word, title: driver}
  gpu.memory: {type: size, title: memory}
  gpu.archs: {type: archs, title: archs}
  missing.library: {type: soname, title: library}
"""
PROBES = """
settings: {shared: [a]}
probes:
  - id: card
    title: the card
    cost: '1'
    seconds: '20'
    examines: interpreter
    touches_gpu: 'true'
    settings: {own: b}
    reads: [driver.present, gpu.memory, gpu.archs, missing.library, package.*]
  - {id: house, title: the house, cost: '2', seconds: '20', examines: machine, reads: [driver.present]}
  - {id: other, title: another, cost: '2', seconds: '20', examines: interpreter, touches_gpu: 'true', reads: [driver.present]}
"""
PRELUDE = """from __future__ import annotations
import json, sys
def say(**what):
    print(json.dumps(what), flush=True)
"""


@pytest.fixture
def known(rules: Rules) -> Knowledge:
    rules.file("facts/test.yaml", FACTS)
    rules.file("probes.yaml", PROBES)
    return rules.knowledge()


def run(*lines: dict[str, object], probe: str = "card") -> Outcome:
    return Outcome(probe, "ok", "", 0.1, "", "", lines)


def test_readings_are_typed(known: Knowledge) -> None:
    outcome = run(
        {"fact": "driver.present", "value": False},
        {"fact": "gpu.memory", "value": 1 << 30},
        {"fact": "gpu.archs", "value": ["sm_50", "sm_90"]},
        {"fact": "missing.library", "value": "/opt/libcudnn.so.9"},
        {"fact": "package.torch", "value": "2.1.0+cu118"},
        {"fact": "driver.present", "value": "no"},
        {"record": "gpu", "value": {}},
    )
    found = {fact.name: fact for fact in readings.facts([outcome], known)}
    assert found["driver.present"].value == "no"
    assert found["gpu.memory"].value == 1 << 30
    assert found["gpu.archs"].text == "5.0 9.0"
    assert found["package.torch"].value == version("2.1.0+cu118")
    assert found["probe.card.ended"].value == "ok"
    assert {fact.origin for fact in found.values()} == {"local"}
    assert len(found) == 6


def test_what_is_not_declared_not_the_probes_or_not_of_its_type_is_left_out_and_named(known: Knowledge) -> None:
    outcomes = [
        run(
            {"fact": "no.such", "value": 1},
            {"fact": "gpu.memory", "value": "lots"},
            {"fact": "gpu.memory", "value": {}},
        ),
        run({"fact": "gpu.memory", "value": 1}, probe="house"),
    ]
    assert [f.name for f in readings.facts(outcomes, known)] == ["probe.card.ended", "probe.house.ended"]
    said = "\n".join(readings.unusable(outcomes, known))
    assert "no.such is not declared" in said
    assert "'lots' is not of type size" in said
    assert "house: fact gpu.memory is not among what rules/probes.yaml says it reads" in said


def test_a_crash_is_a_fact(known: Knowledge) -> None:
    outcome = Outcome("card", "crashed", "SIGSEGV", 0.1, "SIGSEGV", "conv", ())
    found = {fact.name: fact.text for fact in readings.facts([outcome], known)}
    assert found == {"probe.card.ended": "crashed", "probe.card.crashed": "SIGSEGV", "probe.card.stage": "conv"}


def test_a_reading_without_end_and_a_flood_of_values_are_bounded(known: Knowledge) -> None:
    outcome = run(
        *({"fact": "package.p", "value": str(i)} for i in range(5000)), {"fact": "driver.present", "value": "x" * 10**6}
    )
    found = readings.facts([outcome], known)
    assert len(found) < 2500
    assert max(len(fact.text) for fact in found) <= 4000


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("int", 3.0, None),
        ("int", 3, 3),
        ("word", True, "yes"),
        ("float", 2.5, 2.5),
        ("word", None, None),
        ("cc", "8.6", "8.6"),
    ],
)
def test_json_values_become_values_of_the_rule_language(kind: str, value: object, expected: object) -> None:
    found = typed(kind, value)
    assert (str(found) if kind == "cc" else found) == expected


def test_saved_readings_are_loaded_again_with_secrets_masked(tmp_path: Path, known: Knowledge) -> None:
    outcome = run({"fact": "driver.present", "value": "no"}, {"message": "token=ghp_" + "a1B2" * 9})
    path = tmp_path / "facts.json"
    path.write_text(readings.dump([outcome], "python3", masked), encoding="utf-8")
    found, interpreter = readings.load(str(path))
    assert readings.facts(found, known) == readings.facts([outcome], known)
    assert interpreter == "python3"
    assert "ghp_" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a file of readings"),
        ("[]", "not a file of readings; cudnn-triage probe --save-facts FILE makes one"),
        ('{"format": "cudnn-triage readings", "version": 9}', "readings of version 9"),
        ('{"format": "cudnn-triage readings", "version": 1}', "probes: expected a list"),
        (
            '{"format": "cudnn-triage readings", "version": 1, "probes": [{"probe": 1}]}',
            "probes[0].probe: expected str",
        ),
        (
            '{"format": "cudnn-triage readings", "version": 1, "probes": [{"probe": "a", "status": "fine", "lines": []}]}',
            "probes[0].status: expected one of ok,",
        ),
    ],
)
def test_a_bad_file_of_readings_is_told_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "facts.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ReadingsError) as error:
        readings.load(str(path))
    assert said in str(error.value)
    assert str(path) in str(error.value)


def scripts(monkeypatch: pytest.MonkeyPatch, **programs: str) -> None:
    texts = {f"scripts/{name}.py": text for name, text in {"prelude": PRELUDE, **programs}.items()}
    real = bundle.text_of
    monkeypatch.setattr(bundle, "text_of", lambda name: texts[name] if name in texts else real(name))


def test_probes_run_by_the_right_interpreter_with_what_the_rules_give_them(
    known: Knowledge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripts(
        monkeypatch,
        card="say(fact='missing.library', value=SETTINGS['shared'] + [SETTINGS['own']] and 'liba.so.1')\n"
        "say(record='r', value=[SETTINGS, READS, sys.executable])\nsay(end='ok')",
        house="say(record='r', value=sys.executable)\nsay(end='ok')",
        other="import os\nos.abort()",
    )
    other_python = tmp_path / "python"
    other_python.symlink_to(sys.executable)
    started: list[str] = []
    ended: list[str] = []
    look = Examination(known, Interpreter(str(other_python), "asked for"))
    look.run(["card", "house", "other"], started.append, lambda run: ended.append(run.probe))
    assert sorted(started) == sorted(ended) == ["card", "house", "other"]
    card, house, other = look.outcomes
    assert card.records == [
        ("r", [{"shared": ["a"], "own": "b"}, known.probes["card"]["reads"], card.records[0][1][2]])
    ]
    assert house.records[0][1] == sys.executable
    assert other.status == "crashed"


def test_probes_that_touch_the_gpu_never_run_side_by_side(known: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    nap = "import time\nbegan = time.time()\ntime.sleep(0.3)\nsay(record='span', value=[began, time.time()])\nsay(end='ok')"
    scripts(monkeypatch, card=nap, house=nap, other=nap)
    look = Examination(known, Interpreter(sys.executable, ""))
    look.run(["card", "house", "other"], lambda probe: None, lambda run: None)
    spans = {run.probe: run.records[0][1] for run in look.outcomes}
    assert spans["card"][1] <= spans["other"][0] or spans["other"][1] <= spans["card"][0]


def test_the_script_to_paste_makes_a_file_that_facts_reads(
    known: Knowledge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripts(
        monkeypatch,
        card="say(fact='driver.present', value='no')\nsay(end='ok')",
        house="say(fact='driver.present', value='''no''')\nsay(absent='no house')\nsay(end='ok')",
        other="while True: pass" if False else "raise ValueError('odd')",
    )
    file = tmp_path / "look.py"
    file.write_text(bundle.script(known), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path
    )
    saved = tmp_path / "facts.json"
    saved.write_text(done.stdout, encoding="utf-8")
    found, _ = readings.load(str(saved))
    assert {run.probe: run.status for run in found} == {"card": "ok", "house": "skipped", "other": "failed"}
    assert ("driver.present", "no") in {(fact.name, fact.text) for fact in readings.facts(found, known)}


@pytest.fixture
def look(known: Knowledge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    scripts(monkeypatch, card="say(end='ok')", house="say(end='ok')", other="say(end='ok')")
    file = tmp_path / "look.py"
    file.write_text(bundle.script(known), encoding="utf-8")
    return file


def run_script(look: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(look), *words], capture_output=True, text=True, timeout=120)


def test_the_script_says_how_it_is_used_and_what_is_wrong_with_its_arguments(look: Path) -> None:
    asked = run_script(look, "--help")
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.startswith("usage: python look.py [PYTHON]")
    for words in (["--format", "json"], ["a", "b"], ["/nowhere/python"]):
        wrong = run_script(look, *words)
        assert wrong.returncode == 1
        assert not wrong.stdout
        assert words[0] in wrong.stderr


def test_the_script_survives_a_reader_that_went_away(look: Path) -> None:
    with subprocess.Popen([sys.executable, str(look)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


def test_an_old_python_that_runs_the_script_is_told_so(look: Path) -> None:
    """What any Python meets first: a head of plain statements, then nothing but texts, read as Python 2 would."""
    tree = ast.parse(look.read_text(encoding="utf-8"))
    texts = (ast.Constant, ast.List, ast.Dict)
    assert [
        node for node in tree.body[2:-1] if not (isinstance(node, ast.Assign) and isinstance(node.value, texts))
    ] == []
    check = tree.body[1]
    assert isinstance(check, ast.If)
    namespace = {
        "sys": type("sys", (), {"version_info": (2, 7, 18), "version": "2.7.18 (x)", "exit": staticmethod(_stop)})
    }
    with pytest.raises(RuntimeError, match=r"needs Python 3\.8 or newer and was run by 2\.7\.18"):
        exec(compile(ast.Module([check], []), "head", "exec"), namespace)


def _stop(told: str) -> None:
    raise RuntimeError(told)


def test_programs_and_the_script_are_python_3_8() -> None:
    shipped = load()
    assert shipped.probes
    for probe in shipped.probes:
        ast.parse(bundle.program(probe, shipped), feature_version=(3, 8))
    ast.parse(bundle.script(shipped), feature_version=(3, 8))
    for name in ("runner.py", "supervisor.py", "portable.py"):
        ast.parse(bundle.text_of(name), feature_version=(3, 8))


def test_nvml_bindings_are_not_imported_by_the_tool() -> None:
    program = (
        "import sys, cudnn_triage.cli, cudnn_triage.engine, cudnn_triage.examining; print('pynvml' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_the_plain_path_imports_nothing_of_probing() -> None:
    program = (
        "import sys, io; sys.stdin = io.TextIOWrapper(io.BytesIO(b'ok')); import cudnn_triage.cli as c; c.main([]);"
        "print([m for m in sys.modules if m.startswith('cudnn_triage.prob') or m == 'subprocess'])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip().endswith("[]")


def environment(folder: Path, conda: bool = False) -> Path:
    scripts_folder = folder / ("Scripts" if os.name == "nt" else "bin")
    scripts_folder.mkdir(parents=True)
    python = scripts_folder / ("python.exe" if os.name == "nt" else "python")
    python.write_text("#!/bin/sh\nexit 0\n")
    python.chmod(0o755)
    if conda:
        (folder / "conda-meta").mkdir()
    return python


def test_the_interpreter_examined_is_the_one_asked_for_or_the_active_one(tmp_path: Path) -> None:
    venv = environment(tmp_path / "venv")
    conda = environment(tmp_path / "miniconda3" / "envs" / "gpu", conda=True)
    base = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PATH": str(venv.parent)}
    assert choose(python=str(venv), environ=base).path == str(venv)
    found = choose(venv=str(tmp_path / "venv"), environ=base)
    assert (found.path, found.environ["VIRTUAL_ENV"]) == (str(venv), str(tmp_path / "venv"))
    assert found.environ["PATH"].startswith(str(venv.parent))
    assert choose(conda="gpu", environ=base).path == str(conda)
    assert choose(conda=str(conda.parents[1]), environ=base).environ["CONDA_PREFIX"] == str(conda.parents[1])
    active = choose(environ={**base, "VIRTUAL_ENV": str(tmp_path / "venv")})
    assert (active.path, active.why) == (str(venv), "the active environment (VIRTUAL_ENV)")
    assert choose(environ={**base, "CONDA_PREFIX": str(conda.parents[1])}).path == str(conda)
    assert choose(environ=base).why == "the first python on PATH"
    assert choose(environ={"PATH": ""}).path == sys.executable


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"python": "no-such-python"}, "--python no-such-python: no such program"),
        pytest.param(
            {"python": "/bin/ls"},
            "--python /bin/ls: is no Python interpreter",
            marks=pytest.mark.skipif(os.name == "nt", reason="a program of Unix"),
        ),
        ({"venv": "nowhere"}, "--venv nowhere: no Python interpreter in"),
        ({"conda": "nowhere"}, "--conda-env nowhere: no such environment (looked in"),
    ],
)
def test_what_is_not_there_is_said(asked: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(NoInterpreter) as error:
        choose(**asked, environ={"PATH": "", "HOME": str(tmp_path)})
    assert said in str(error.value)


def test_windows_environments_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "_WINDOWS", True)
    monkeypatch.setattr(interpreters, "_SCRIPTS", "Scripts")
    (tmp_path / "venv" / "Scripts").mkdir(parents=True)
    (tmp_path / "venv" / "Scripts" / "python.exe").write_text("")
    (tmp_path / "envs" / "gpu" / "conda-meta").mkdir(parents=True)
    (tmp_path / "envs" / "gpu" / "python.exe").write_text("")
    assert choose(venv=str(tmp_path / "venv"), environ={}).path.endswith("python.exe")
    conda = choose(conda="gpu", environ={"CONDA_EXE": str(tmp_path / "Scripts" / "conda.exe")})
    assert conda.path == str(tmp_path / "envs" / "gpu" / "python.exe")


def test_json_of_saved_readings_is_plain(known: Knowledge) -> None:
    data = json.loads(readings.dump([run({"fact": "driver.present", "value": "no"})], "python3", masked))
    assert data["probes"][0]["lines"] == [{"fact": "driver.present", "value": "no"}]
