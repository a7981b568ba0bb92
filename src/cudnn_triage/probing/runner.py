"""Runs one probe in a process of its own and takes down what it says and how it ends. Nothing a probe does can raise here.

Its text is also part of the file that ``probe --script`` prints: Python 3.8, standard library, no import of the package.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

MOST_OUTPUT = 16 << 20  # bytes that a probe may say
MOST_CHATTER = 64 << 20  # bytes that what it examines may print
TAIL = 8 << 10  # bytes of that which are kept
GRACE = 6.0  # seconds within which a stopped probe has to be gone

BOOT = (
    "import sys\n"
    "if sys.version_info[:2] < (3, 8):\n"
    "    sys.exit('needs Python 3.8 or newer, this is ' + sys.version.split()[0])\n"
    "if sys.path and not sys.path[0]:\n"
    "    del sys.path[0]\n"
    "exec(compile(sys.stdin.buffer.read(), '<probe>', 'exec'))\n"
)
"""What the interpreter is told on its command line; the program follows on standard input, so nothing is written to disk."""

UNTOUCHED = {"PYTHONDONTWRITEBYTECODE": "1", "CUDA_CACHE_DISABLE": "1"}
"""Set for every probe, so that importing a framework writes no .pyc files and CUDA keeps no compiled kernels."""

WINDOWS_CRASHES = {
    0xC0000005: "ACCESS_VIOLATION",
    0xC000001D: "ILLEGAL_INSTRUCTION",
    0xC0000094: "INTEGER_DIVIDE_BY_ZERO",
    0xC00000FD: "STACK_OVERFLOW",
    0xC0000135: "DLL_NOT_FOUND",
    0xC0000142: "DLL_INIT_FAILED",
    0xC0000374: "HEAP_CORRUPTION",
    0xC0000409: "STACK_BUFFER_OVERRUN",
}
"""NTSTATUS codes with which Windows ends a process (ntstatus.h)."""


class Order(NamedTuple):
    """What to run, and within which limits."""

    probe: str
    program: bytes  # Python source
    python: str  # path of the interpreter
    environ: dict[str, str]  # set for the probe, beside what the tool itself has
    without: list[str]  # taken out of its environment
    seconds: float
    memory: int  # bytes of main memory for it and its children; 0: no limit


class Running:
    """One probe under way. ``run`` waits for its end; ``stop``, from any thread, ends it and all it started."""

    def __init__(self, order: Order, supervisor: str) -> None:
        self._order = order
        self._supervisor = supervisor
        self._process: subprocess.Popen[bytes] | None = None
        self._job: Any = None
        self._lock = threading.Lock()
        self._stopped = ""
        self._said = bytearray()
        self._tail = bytearray()

    def run(self) -> dict[str, Any]:
        """Run the probe to its end; returns its outcome (see ``outcome``)."""
        began = time.monotonic()
        try:
            ended = self._run(began + self._order.seconds)
        except Exception as error:  # whatever it is, it is what became of this probe
            ended = {"error": getattr(error, "strerror", None) or str(error)}
        finally:
            self.stop("ended")
        return outcome(
            self._order, bytes(self._said), bytes(self._tail), ended, self._stopped, time.monotonic() - began
        )

    def stop(self, why: str) -> None:
        """End the probe. The first reason given counts."""
        with self._lock:
            self._stopped = self._stopped or why
            process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if self._job is not None:
                self._job.close()
            elif process.stdin:
                process.stdin.close()  # the supervisor takes this for the order to end everything
        if self._stopped != "ended":
            try:
                process.wait(GRACE)
            except subprocess.TimeoutExpired:
                process.kill()

    def _run(self, deadline: float) -> dict[str, Any]:
        order = self._order
        argv = [order.python, "-c", BOOT]
        if os.name == "nt":
            return self._run_on_windows(argv, deadline)
        report, reporting = os.pipe()
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", self._supervisor, str(reporting)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                pass_fds=[reporting], start_new_session=True, bufsize=0,
            )  # fmt: skip
        except OSError:
            os.close(report)
            raise
        finally:
            os.close(reporting)
        head = {
            "argv": argv,
            "environ": order.environ,
            "without": order.without,
            "memory": order.memory,
            "program": len(order.program),
        }
        with open(report, "rb") as said:
            self._follow(process, json.dumps(head).encode() + b"\n" + order.program, deadline, close=False)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
            lines = said.read().splitlines() if process.poll() is not None else []
        ended: dict[str, Any] = {}
        for line in lines:
            ended.update(json.loads(line))
        return ended

    def _run_on_windows(self, argv: list[str], deadline: float) -> dict[str, Any]:
        order = self._order
        environ = {name: value for name, value in {**os.environ, **order.environ}.items() if name not in order.without}
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, bufsize=0,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
            | getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )  # fmt: skip
        self._job = Job(process)  # before the program is written: until then the interpreter waits for it
        self._follow(process, order.program, deadline, close=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        return {"code": process.poll()}

    def _follow(self, process: subprocess.Popen[bytes], text: bytes, deadline: float, *, close: bool) -> None:
        """Send ``text``, take down what is said, until the end of it or the deadline."""
        with self._lock:
            self._process = process
            stopped = self._stopped
        if stopped:
            self.stop(stopped)
        threads = [
            threading.Thread(target=self._write, args=(process, text, close), daemon=True),
            threading.Thread(target=self._listen, args=(process.stdout, self._said, MOST_OUTPUT, False), daemon=True),
            threading.Thread(target=self._listen, args=(process.stderr, self._tail, MOST_CHATTER, True), daemon=True),
        ]
        for thread in threads:
            thread.start()
        for thread in threads[1:]:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive() and not self._stopped:
                self.stop("time")
        for thread in threads[1:]:
            thread.join(GRACE)

    @staticmethod
    def _write(process: subprocess.Popen[bytes], text: bytes, close: bool) -> None:
        view = memoryview(text)
        with contextlib.suppress(OSError, ValueError):
            while view and process.stdin:
                view = view[process.stdin.write(view) or 0 :]
            if close and process.stdin:
                process.stdin.close()

    def _listen(self, stream: Any, into: bytearray, most: int, only_tail: bool) -> None:
        total = 0
        with contextlib.suppress(OSError, ValueError):
            while True:
                part = stream.read(1 << 16)
                if not part:
                    return
                total += len(part)
                if total > most:
                    self.stop("output")
                    return
                into += part
                if only_tail:
                    del into[:-TAIL]


def outcome(
    order: Order, said: bytes, tail: bytes, ended: dict[str, Any], stopped: str, seconds: float
) -> dict[str, Any]:
    """What a probe said and how it ended, as plain data.

    probe, status (ok, skipped, failed, timed-out, crashed), reason, seconds, crashed (the signal or error that ended it),
    stage (what it was doing when it was ended), lines (what it said, each a map).
    """
    lines, garbled = [], 0
    complete = said[: said.rfind(b"\n") + 1]
    for row in complete.splitlines():
        try:
            line = json.loads(row)
        except (ValueError, RecursionError):
            garbled += 1
            continue
        if isinstance(line, dict):
            lines.append(line)
        else:
            garbled += 1
    stage, finished, absent, error = "", False, "", ""
    for line in lines:
        stage = str(line.get("stage", stage))
        finished = finished or "end" in line
        absent = str(line.get("absent", absent))
        error = str(line.get("error", error))
    code = ended.get("code")
    crash = crash_name(code)
    while_at = f" while at: {stage}" if stage else ""
    status, reason, crashed = "ok", "", ""
    if ended.get("over"):
        what = (
            f"took more than {order.memory >> 20} MiB of memory"
            if ended["over"] == "memory"
            else "started too many processes"
        )
        status, reason = "failed", f"{what}{while_at}"
    elif stopped == "time":
        status, reason = "timed-out", f"no answer within {order.seconds:g} s{while_at}"
    elif stopped == "output":
        status, reason = "failed", f"wrote more than {MOST_OUTPUT >> 20} MiB{while_at}"
    elif stopped not in ("", "ended"):
        status, reason = "failed", stopped
    elif "error" in ended:
        status, reason = "failed", f"{order.python} cannot be started: {ended['error']}"
    elif finished:
        status, reason = ("skipped", absent) if absent else ("ok", "")
        if crash:
            reason = "; ".join(filter(None, [reason, f"ended by {crash} after its last answer"]))
        stage = ""
    elif crash:
        status, reason, crashed = "crashed", f"{crash}{while_at}", crash
    else:
        last = tail.decode("utf-8", "replace").strip().rpartition("\n")[2].strip()
        status, reason = "failed", error or last or f"ended without an answer (exit code {code}){while_at}"
    if garbled:
        reason = "; ".join(filter(None, [reason, f"{garbled} lines of its answer could not be read"]))
    if ended.get("gone") is False:
        reason = "; ".join(filter(None, [reason, "a process of it could not be ended"]))
    return {
        "probe": order.probe,
        "status": status,
        "reason": reason,
        "seconds": round(seconds, 3),
        "crashed": crashed,
        "stage": stage if status != "ok" else "",
        "lines": lines,
    }


def crash_name(code: Any) -> str:
    """The name of the signal or Windows error behind an exit code; empty where the process ended by itself."""
    if not isinstance(code, int):
        return ""
    if code < 0 and os.name != "nt":
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    if code & 0xFFFFFFFF >= 0xC0000000:
        return WINDOWS_CRASHES.get(code & 0xFFFFFFFF, f"{code & 0xFFFFFFFF:#010x}")
    return ""


class Job:
    """A Windows job object: closing it, or the death of the process that holds it, ends every process in it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        import ctypes
        from ctypes import wintypes

        class Limits(ctypes.Structure):
            """JOBOBJECT_EXTENDED_LIMIT_INFORMATION (winnt.h)."""

            _fields_ = [
                ("times", ctypes.c_int64 * 2),
                ("flags", wintypes.DWORD),
                ("sizes", ctypes.c_size_t * 2),
                ("active", wintypes.DWORD),
                ("affinity", ctypes.c_size_t),
                ("classes", wintypes.DWORD * 2),
                ("io", ctypes.c_uint64 * 6),
                ("memory", ctypes.c_size_t * 4),
            ]

        self._kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined]
        self._kernel.CreateJobObjectW.restype = wintypes.HANDLE
        self._handle = wintypes.HANDLE(self._kernel.CreateJobObjectW(None, None))
        limits = Limits(flags=0x2000)  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
        self._kernel.SetInformationJobObject(self._handle, 9, ctypes.byref(limits), ctypes.sizeof(limits))
        self._kernel.AssignProcessToJobObject(self._handle, wintypes.HANDLE(int(process._handle)))  # type: ignore[attr-defined]

    def close(self) -> None:
        """End all processes of the job."""
        self._kernel.CloseHandle(self._handle)
