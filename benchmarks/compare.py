"""Paired comparisons, printed as ratios with their spread: start-up, scan against grep, growth with log size, growth with rules.

    python benchmarks/compare.py start   [--runs N]              cudnn-triage against `python -c pass`, one after the other
    python benchmarks/compare.py scan    [--megabytes N]         a long log, against `grep -c -F -f` with as many literals
    python benchmarks/compare.py growth  [--megabytes N]         N and 4 N of each awkward shape: time and memory
    python benchmarks/compare.py rules                           ten times as many rules: start, triage, scan

Run it with the interpreter of an environment into which the wheel was installed (a source tree hashes its rules at each start).
Wall time depends on what else the machine does; of each pair the ratio is taken, and processor time is printed beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from inputs import FAILURE, SHAPES, pieces

COMMAND = str(Path(sys.executable).with_name("cudnn-triage"))


@dataclass(frozen=True)
class Run:
    """What a process took."""

    wall: float  # seconds
    cpu: float  # seconds, user and system
    memory: float  # most, in MB


def run(command: list[str], stdin: Path | None = None, *, pipe: bool = False) -> Run:
    """Run a command; with ``pipe`` its input comes from `cat`."""
    with tempfile.TemporaryFile() as out, open(stdin or os.devnull, "rb") as file:
        begin = time.perf_counter()
        cat = subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) if pipe else None
        environment = {**os.environ, "LC_ALL": "C"}
        process = subprocess.Popen(command, stdin=cat.stdout if cat else file, stdout=out, env=environment)
        if cat and cat.stdout:
            cat.stdout.close()
        _, _, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = 0
        if cat:
            cat.wait()
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def told(name: str, ones: list[Run], others: list[Run]) -> None:
    """Print the ratios of pairs: median, and the quarter and three-quarter points."""
    for what in ("wall", "cpu"):
        ratios = [getattr(one, what) / getattr(other, what) for one, other in zip(ones, others, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
        times = statistics.median(getattr(one, what) for one in ones)
        print(f"{name:34} {what:4} {times * 1000:9.1f} ms   ratio {middle:5.2f}   ({low:.2f} to {high:.2f})")


def start(runs: int) -> None:
    """Start-up: JSON and text, a PyTorch and a TensorFlow log."""
    tensorflow = (
        b"2020-08-08 19:17:16.746067: E tensorflow/stream_executor/cuda/cuda_dnn.cc:319] Loaded runtime CuDNN library: "
        b"7.1.2 but source was compiled with: 7.6.0.  CuDNN library major and minor version needs to match or have higher "
        b"minor version in case of CuDNN 7.0 or later version.\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        files = {"PyTorch": Path(folder, "pytorch.log"), "TensorFlow": Path(folder, "tensorflow.log")}
        files["PyTorch"].write_bytes(FAILURE)
        files["TensorFlow"].write_bytes(tensorflow)
        for form in ("json", "text"):
            for name, file in files.items():
                pairs = [
                    (run([COMMAND, "--format", form], file), run([sys.executable, "-c", "pass"])) for _ in range(runs)
                ]
                told(f"{form}, {name} log", [one for one, _ in pairs], [other for _, other in pairs])


def scan(megabytes: float, runs: int) -> None:
    """A long log from a file and from a pipe, against grep."""
    from cudnn_triage.knowledge.base import load

    words = load().literals.words
    with tempfile.TemporaryDirectory() as folder:
        literals, log = Path(folder, "literals.txt"), Path(folder, "big.log")
        literals.write_text("\n".join(words) + "\n", encoding="utf-8")
        with log.open("wb") as out:
            out.writelines(pieces("training", int(megabytes * 1e6)))
        print(f"{log.stat().st_size / 1e6:.0f} MB, {len(words)} literals")
        for name, pipe in (("from a file", False), ("from a pipe", True)):
            ones: list[Run] = []
            others: list[Run] = []
            for _ in range(runs):
                ones.append(run([COMMAND, "--format", "json", *([] if pipe else [str(log)])], log, pipe=pipe))
                others.append(run(["grep", "-c", "-F", "-f", str(literals), str(log)]))
            told(f"{name}, against grep", ones, others)
            print(f"{name:34} most memory {max(one.memory for one in ones):.0f} MB")


def growth(megabytes: float) -> None:
    """Four times the log: four times the time at most, beyond what a start takes; the same memory."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        for shape in SHAPES:
            made: list[Run] = []
            for size in (megabytes, 4 * megabytes):
                with log.open("wb") as out:
                    out.writelines(pieces(shape, int(size * 1e6)))
                made.append(min((run([COMMAND, "--format", "json", str(log)]) for _ in range(3)), key=lambda r: r.cpu))
            small, large = made
            print(
                f"{shape:12} {megabytes:.0f} MB {small.cpu:5.2f} s {small.memory:4.0f} MB   "
                f"{4 * megabytes:.0f} MB {large.cpu:5.2f} s {large.memory:4.0f} MB   ratio {large.cpu / small.cpu:.2f}   "
                f"a further GB takes {(large.cpu - small.cpu) / (3 * megabytes) * 1000:.1f} s"
            )


def rules(megabytes: float) -> None:
    """Ten times as many rules, each wording different from all others."""
    from cudnn_triage.engine import Triager
    from cudnn_triage.knowledge.base import Knowledge
    from cudnn_triage.reading import read
    from cudnn_triage.selection import Selector
    from manyrules import multiplied

    def seconds(action: object, times: int) -> float:
        begin = time.process_time()
        for _ in range(times):
            action()  # type: ignore[operator]
        return (time.process_time() - begin) / times

    log = read(FAILURE)[0]
    data = b"".join(pieces("training", int(megabytes * 1e6)))
    rows: dict[str, list[float]] = {}
    for times in (1, 10):
        packed = multiplied(times)
        knowledge = Knowledge(packed)
        cold = seconds(lambda packed=packed: Triager(Knowledge(packed)).triage(log), 5)
        triager = Triager(knowledge)
        triager.triage(log)
        warm = seconds(lambda triager=triager: triager.triage(log), 30)

        def whole(knowledge: Knowledge = knowledge) -> None:
            selector = Selector(knowledge, "log")
            selector.feed(data)
            selector.finish()

        whole()
        rows.setdefault("templates", []).append(float(sum(len(rule["templates"]) for rule in knowledge.rules)))
        rows.setdefault("open and first triage, s", []).append(cold)
        rows.setdefault("triage, s", []).append(warm)
        rows.setdefault(f"selection of {megabytes:.0f} MB, s", []).append(seconds(whole, 3))
    for name, (one, ten) in rows.items():
        print(f"{name:30} {one:12.4f} {ten:12.4f}   ratio {ten / one:5.2f}")


def main() -> None:
    """Run one comparison."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("start", "scan", "growth", "rules"))
    parser.add_argument("--runs", type=int, help="pairs (default: 25 for start, 3 for scan)")
    parser.add_argument(
        "--megabytes", type=float, help="size of the log (default: 1000 for scan, 25 for growth, 50 for rules)"
    )
    options = parser.parse_args()
    if options.what == "start":
        start(options.runs or 25)
    elif options.what == "scan":
        scan(options.megabytes or 1000, options.runs or 3)
    elif options.what == "growth":
        growth(options.megabytes or 25)
    else:
        rules(options.megabytes or 50)


if __name__ == "__main__":
    main()
