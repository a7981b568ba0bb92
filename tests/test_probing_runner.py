"""The runner against probes that misbehave: whatever they do is a result, and nothing of them stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import heed_interrupts
from cudnn_triage.probing import runner
from cudnn_triage.probing.bundle import text_of
from cudnn_triage.probing.runner import Order, Running, crash_name, outcome

posix = pytest.mark.skipif(os.name == "nt", reason="signals and process groups")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")

SAY = """
import json, os, signal, subprocess, sys, time
def say(**what):
    sys.stdout.write(json.dumps(what) + "\\n")
    sys.stdout.flush()
"""


def order(program: str, **more: Any) -> Order:
    fields: dict[str, Any] = {
        "probe": "test",
        "program": (SAY + textwrap.dedent(program)).encode(),
        "python": sys.executable,
        "environ": {},
        "without": [],
        "seconds": 30.0,
        "memory": 0,
    }
    return Order(**{**fields, **more})


def run(program: str, **more: Any) -> dict[str, Any]:
    return Running(order(program, **more), text_of("supervisor.py")).run()


def test_what_a_probe_says_is_taken_down() -> None:
    found = run("say(fact='a.b', value=1)\nsay(stage='s')\nsay(end='ok')")
    assert (found["status"], found["reason"], found["crashed"], found["stage"]) == ("ok", "", "", "")
    assert found["lines"] == [{"fact": "a.b", "value": 1}, {"stage": "s"}, {"end": "ok"}]


def test_what_is_not_there_is_a_reason_to_skip() -> None:
    found = run("say(absent='no torch')\nsay(end='ok')")
    assert (found["status"], found["reason"]) == ("skipped", "no torch")


@posix
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGILL", "SIGBUS", "SIGABRT", "SIGFPE"])
def test_a_crash_is_a_result_that_names_signal_and_stage(name: str) -> None:
    found = run(f"say(fact='a.b', value=1)\nsay(stage='cudnnCreate')\nos.kill(os.getpid(), signal.{name})")
    assert (found["status"], found["crashed"], found["stage"]) == ("crashed", name, "cudnnCreate")
    assert "while at: cudnnCreate" in found["reason"]
    assert {"fact": "a.b", "value": 1} in found["lines"]


@posix
def test_a_crash_after_the_last_answer_spoils_nothing() -> None:
    found = run("say(end='ok')\nos.kill(os.getpid(), signal.SIGSEGV)")
    assert (found["status"], found["crashed"]) == ("ok", "")
    assert "SIGSEGV" in found["reason"]


def test_a_hang_ends_at_the_time_out_with_what_was_read_before() -> None:
    found = run("say(fact='a.b', value=1)\nsay(stage='conv')\ntime.sleep(600)", seconds=1.0)
    assert (found["status"], found["stage"]) == ("timed-out", "conv")
    assert found["reason"] == "no answer within 1 s while at: conv"
    assert found["lines"][0] == {"fact": "a.b", "value": 1}


@posix
def test_a_probe_that_ignores_signals_ends_all_the_same() -> None:
    found = run(
        "for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(s, signal.SIG_IGN)\nwhile True: pass",
        seconds=1.0,
    )
    assert found["status"] == "timed-out"


def test_endless_output_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MOST_OUTPUT", 1 << 20)
    found = run("say(fact='a.b', value=1)\nwhile True: sys.stdout.write('x' * 65536)")
    assert found["status"] == "failed"
    assert "wrote more than" in found["reason"]
    assert found["lines"] == [{"fact": "a.b", "value": 1}]


def test_endless_chatter_on_standard_error_is_stopped_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MOST_CHATTER", 1 << 20)
    found = run("while True: sys.stderr.write('x' * 65536)")
    assert found["status"] == "failed"
    assert len(found["reason"]) < 200


def test_lines_that_are_no_json_are_counted_and_the_rest_is_read() -> None:
    found = run("print('{\"fact\": ')\nprint('[1]')\nprint('garbage \\xff')\nsay(fact='a.b', value=1)\nsay(end='ok')")
    assert found["status"] == "ok"
    assert "3 lines of its answer could not be read" in found["reason"]
    assert {"fact": "a.b", "value": 1} in found["lines"]


def test_a_last_line_without_end_is_not_half_read() -> None:
    found = run('say(fact=\'a.b\', value=1)\nsys.stdout.write(\'{"fact": "gpu.count", "value": 1\')')
    assert found["status"] == "failed"
    assert found["lines"] == [{"fact": "a.b", "value": 1}]


def test_an_exception_is_told_by_its_last_line() -> None:
    found = run("say(stage='import')\nimport no_such_module_here")
    assert found["status"] == "failed"
    assert found["reason"].startswith("ModuleNotFoundError: No module named 'no_such_module_here'")
    assert found["stage"] == "import"


def test_an_interpreter_that_cannot_be_started_is_a_result(tmp_path: Path) -> None:
    found = run("say(end='ok')", python=str(tmp_path / "no" / "python"))
    assert found["status"] == "failed"
    assert "cannot be started" in found["reason"]


@posix
def test_an_interpreter_that_is_no_python_is_a_result(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho this is no python >&2\nexit 3\n")
    fake.chmod(0o755)
    found = run("say(end='ok')", python=str(fake))
    assert (found["status"], found["reason"]) == ("failed", "this is no python")


def test_the_current_folder_does_not_shadow_what_a_probe_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "decimal.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path)
    assert run("import decimal\nsay(end='ok')")["status"] == "ok"


def test_variables_are_set_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROBE_A", "1")
    program = "say(fact='a', value=[os.environ.get('PROBE_A'), os.environ.get('PROBE_B')])\nsay(end='ok')"
    assert run(program, environ={"PROBE_B": "2"}, without=["PROBE_A"])["lines"][0]["value"] == [None, "2"]


@linux
def test_memory_is_watched() -> None:
    found = run("say(stage='fill')\nfill = bytearray(400 << 20)\ntime.sleep(60)", memory=200 << 20)
    assert found["status"] == "failed"
    assert found["reason"] == "took more than 200 MiB of memory while at: fill"


@linux
def test_memory_of_children_counts() -> None:
    child = "import time; fill = bytearray(150 << 20); time.sleep(60)"
    found = run(
        f"p = [subprocess.Popen([sys.executable, '-c', {child!r}]) for _ in range(3)]\ntime.sleep(60)", memory=300 << 20
    )
    assert "of memory" in found["reason"]


CHILDREN = f"""
for more in ({{}}, {{"start_new_session": True}}):
    subprocess.Popen([{sys.executable!r}, "-c", "import os, time, sys; os.fork(); os.fork(); time.sleep(60)", MARK], **more)
"""


def alive(mark: str) -> list[int]:
    out = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                line = Path(f"/proc/{name}/cmdline").read_bytes()
                state = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if mark.encode() in line and state != "Z":
                out.append(int(name))
    return out


def none_alive(mark: str) -> bool:
    for _ in range(100):
        if not alive(mark):
            return True
        time.sleep(0.1)
    return False


@linux
@pytest.mark.parametrize("end", ["say(end='ok')", "os.kill(os.getpid(), signal.SIGSEGV)", "time.sleep(300)"])
def test_children_left_behind_are_ended_even_in_sessions_of_their_own(end: str) -> None:
    mark = f"probe-child-{os.getpid()}-{abs(hash(end))}"
    run(f"MARK = {mark!r}\n{CHILDREN}\n" + end, seconds=2.0)
    assert none_alive(mark)


@linux
def test_a_probe_that_starts_too_many_processes_is_ended_with_all_of_them() -> None:
    mark = f"probe-forks-{os.getpid()}"
    supervisor = text_of("supervisor.py").replace("MOST = 200", "MOST = 20")
    assert supervisor != text_of("supervisor.py")
    program = f"""
        sleeper = 'import os, signal, time; os.setsid(); signal.alarm(30); time.sleep(20)'
        say(stage='forks')
        for _ in range(40):
            subprocess.Popen([sys.executable, '-I', '-S', '-c', sleeper, {mark!r}])
        time.sleep(20)
    """
    found = Running(order(program), supervisor).run()
    assert found["reason"] == "started too many processes while at: forks"
    assert none_alive(mark)


TOOL = """
import sys
from cudnn_triage.probing.bundle import text_of
from cudnn_triage.probing.runner import Order, Running
program = sys.stdin.buffer.read()
print("ready", flush=True)
Running(Order("test", program, sys.executable, {}, [], 300.0, 0), text_of("supervisor.py")).run()
"""


@linux
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killing_the_tool_leaves_no_process_behind(how: signal.Signals) -> None:
    mark = f"probe-orphan-{os.getpid()}-{how}"
    program = SAY + f"MARK = {mark!r}\n{CHILDREN}\ntime.sleep(300)"
    tool = subprocess.Popen(
        [sys.executable, "-c", TOOL, mark], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=heed_interrupts
    )
    assert tool.stdin
    assert tool.stdout
    tool.stdin.write(program.encode())
    tool.stdin.close()
    tool.stdout.readline()
    for _ in range(200):
        if len(alive(mark)) > 4:  # the tool, and children in both sessions
            break
        time.sleep(0.1)
    assert len(alive(mark)) > 4
    tool.send_signal(how)
    tool.wait(30)
    assert none_alive(mark)


@linux
def test_without_proc_the_group_is_still_ended() -> None:
    mark = f"probe-noproc-{os.getpid()}"
    supervisor = text_of("supervisor.py").replace('os.listdir("/proc")', 'os.listdir("/no/proc")')
    assert supervisor != text_of("supervisor.py")
    child = f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)', {mark!r}])"
    found = Running(order(f"{child}\nsay(end='ok')"), supervisor).run()
    assert found["status"] == "ok"
    assert none_alive(mark)


def test_a_thousand_gpus_are_read() -> None:
    found = run(
        """
        for i in range(1000):
            say(record='gpu', value={'index': i, 'uuid': 'GPU-%036d' % i, 'processes': [{'pid': n} for n in range(20)]})
            say(fact='memory.free', value=i)
        say(end='ok')
        """
    )
    assert found["status"] == "ok"
    assert len(found["lines"]) == 2001


def test_windows_errors_have_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.os, "name", "nt")
    assert crash_name(0xC0000005) == "ACCESS_VIOLATION"
    assert crash_name(0xC0000005 - (1 << 32)) == "ACCESS_VIOLATION"
    assert crash_name(1) == crash_name(None) == ""
    ended = outcome(order(""), b'{"stage": "conv"}\r\n', b"", {"code": 0xC000001D}, "ended", 1.0)
    assert (ended["status"], ended["crashed"], ended["stage"]) == ("crashed", "ILLEGAL_INSTRUCTION", "conv")
