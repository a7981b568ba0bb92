"""The process between the tool and a probe on POSIX: ends the probe and all it started, whatever becomes of either.

Its text is run by ``python -I -S -c``, also inside the file that ``probe --script`` prints: Python 3.8, standard library.
Standard input begins with a line of JSON (argv, environ, without, memory, program: its length) and the program; after that nothing
is sent, and its end means: stop. That is how a tool killed by SIGKILL still takes its probes along. Standard output and
error are the probe's. The file descriptor named by the first argument takes one line of JSON that says how it ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
LOOK = 0.25  # seconds between two looks at the memory in use and the number of processes
MOST = 200  # processes that a probe may start; a program that forks without end is stopped while that is still quick
PATIENCE = 3.0  # seconds until a process that cannot be killed (it waits inside a driver) is left alone


def prctl(option: int, value: int) -> None:
    """Linux's prctl; elsewhere nothing."""
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def read_exactly(count: int) -> bytes:
    """So many bytes of standard input; fewer when it ends."""
    parts = []
    while count and (part := os.read(0, min(count, 1 << 20))):
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_line() -> bytes:
    """The first line of standard input, byte by byte, so that nothing after it is lost in a buffer."""
    line = bytearray()
    while (byte := os.read(0, 1)) not in (b"", b"\n"):
        line += byte
    return bytes(line)


def processes() -> list[tuple[int, int, int]]:
    """(pid, parent, bytes in memory) of every process that /proc shows; nothing where there is no /proc."""
    out = []
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    page = os.sysconf("SC_PAGE_SIZE")
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    after = file.read().rpartition(b")")[2].split()
                out.append((int(name), int(after[1]), int(after[21]) * page))
            except (OSError, IndexError, ValueError):
                continue
    return out


def descendants() -> list[tuple[int, int]]:
    """(pid, bytes in memory) of all that this process started, and of all that those started."""
    children: dict[int, list[tuple[int, int]]] = {}
    for pid, parent, size in processes():
        children.setdefault(parent, []).append((pid, size))
    out: list[tuple[int, int]] = []
    left = [os.getpid()]
    while left:
        found = children.pop(left.pop(), [])
        out += found
        left += [pid for pid, _ in found]
    return out


def kill_all(group: int) -> bool:
    """Kill the probe's group and every descendant until none is left; False when one would not go."""
    with contextlib.suppress(OSError):
        os.killpg(group, signal.SIGKILL)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        for pid, _ in descendants():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.005)
    return False


def become_probe(argv: list[str], environ: dict[str, str], stdin: int, report: int) -> None:
    """In the child: a group of its own, no core dumps, first in line when memory runs out; then the interpreter."""
    try:
        os.setpgid(0, 0)
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
            file.write("1000")
        for name in ("SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.dup2(stdin, 0)
        os.execve(argv[0], argv, environ)
    except BaseException as error:
        say(report, {"error": str(error)})
    finally:
        os._exit(127)


def feed(descriptor: int, program: bytes) -> None:
    """Write the program to the probe; it may be gone."""
    view = memoryview(program)
    with contextlib.suppress(OSError):
        while view:
            view = view[os.write(descriptor, view) :]
    os.close(descriptor)


def say(report: int, what: dict[str, object]) -> None:
    """Tell the tool, if it is still there."""
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(what).encode() + b"\n")


def main() -> None:
    """Run one probe."""
    report = int(sys.argv[1])
    os.set_inheritable(report, False)
    order = json.loads(read_line() or b"{}")
    program = read_exactly(order.get("program", 0))
    if len(program) < order.get("program", 1):
        return  # the tool went away before it had said what to do
    environ = {**os.environ, **order["environ"]}
    environ = {name: value for name, value in environ.items() if name not in order["without"]}
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake)
    stdin, out = os.pipe()
    pid = os.fork()
    if pid == 0:
        become_probe(order["argv"], environ, stdin, report)
    with contextlib.suppress(OSError):
        os.setpgid(pid, pid)
    os.close(stdin)
    threading.Thread(target=feed, args=(out, program), daemon=True).start()
    code: int | None = None
    over = ""
    looked = 0.0
    while code is None:
        ready = select.select([0, woken], [], [], LOOK)[0]
        if woken in ready:
            os.read(woken, 4096)
        if 0 in ready and not os.read(0, 4096):
            break
        while code is None:
            ended, status = os.waitpid(-1, os.WNOHANG)
            if not ended:
                break
            if ended == pid:
                code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if time.monotonic() - looked > LOOK:
            looked = time.monotonic()
            sizes = [size for _, size in descendants()]
            if len(sizes) > MOST or 0 < order["memory"] < sum(sizes):
                over = "processes" if len(sizes) > MOST else "memory"
                break
    gone = kill_all(pid)
    say(report, {"code": code, "over": over, "gone": gone})


if __name__ == "__main__":
    main()
