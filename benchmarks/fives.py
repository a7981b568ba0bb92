"""What logs of 5 KB cost, over many different ones rather than one favourite: warm triage, and start-up.

    python benchmarks/fives.py warm  [FOLDER...]   processor time of triage(text) for each log, warm, all logs in turn
    python benchmarks/fives.py start [FOLDER...]   the command against `python -c pass`, processor time, JSON and text

FOLDERs hold labelled logs (default: corpus/). Two sets: the logs of 4 to 6.2 KB as they are, and tracebacks of 0.5 to 4 KB that
are made 5 KB long by frames of other ones. For ``start`` install the wheel into this interpreter's environment first.
"""

from __future__ import annotations

import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

from cudnn_triage.engine import triage
from cudnn_triage.evaluation.labelled import read_folder

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
_HEAD = re.compile(rb'^Traceback \(most recent call last\):\n(?=  File ")', re.MULTILINE)
_FRAME = re.compile(rb'^  File "[^"\n]+", line \d+, in [^\n]+\n(?:    \S[^\n]*\n)?', re.MULTILINE)
_ROUNDS = 5
Logs = dict[str, bytes]


def as_they_are(logs: Logs) -> Logs:
    """The logs of about 5 KB."""
    return {name: raw for name, raw in logs.items() if 4000 <= len(raw) <= 6200}


def lengthened(logs: Logs) -> Logs:
    """Shorter tracebacks made 5 KB long by frames that other logs have."""
    pool = sorted({frame for raw in logs.values() for frame in _FRAME.findall(raw) if len(frame) < 300})
    made: Logs = {}
    for name, raw in sorted(logs.items()):
        heads = [*_HEAD.finditer(raw)]
        if not heads or not 500 < len(raw) < 4000:
            continue
        chance = random.Random(name)
        first = chance.randrange(len(pool))
        frames: list[bytes] = []
        while len(raw) + sum(map(len, frames)) < 5000:
            frames.append(pool[(first + chance.randrange(60)) % len(pool)])
        at = heads[-1].end()
        made[name] = raw[:at] + b"".join(frames) + raw[at:]
    return made


def told(name: str, values: list[float], unit: str) -> None:
    """Print how values are distributed."""
    low, middle, high = statistics.quantiles(values, n=4)
    print(
        f"{name:28} {len(values):4} logs   least {min(values):.2f}   quarter {low:.2f}   median {middle:.2f}   "
        f"three quarters {high:.2f}   most {max(values):.2f} {unit}"
    )


def warm(name: str, logs: Logs) -> None:
    """Triage all logs in turn, several times; the median time of each log counts."""
    times: dict[str, list[float]] = {log: [] for log in logs}
    for turn in range(_ROUNDS + 1):
        for log, raw in logs.items():
            begin = process_time()
            triage(raw)
            if turn:
                times[log].append(process_time() - begin)
    told(name, [1000 * statistics.median(found) for found in times.values()], "ms")


def start(name: str, logs: Logs, form: str) -> None:
    """Run the command and a bare interpreter in turn, several times for each log; their median times are compared."""
    command = [str(Path(sys.executable).with_name("cudnn-triage")), "--format", form]
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        for raw in logs.values():
            path.write_bytes(raw)
            pairs = [(_cpu(command, path), _cpu([sys.executable, "-c", "pass"], path)) for _ in range(_ROUNDS)]
            ratios.append(statistics.median(one for one, _ in pairs) / statistics.median(bare for _, bare in pairs))
    told(f"{name}, {form}", ratios, f"times; {sum(ratio > 5 for ratio in ratios)} over 5")


def _cpu(command: list[str], path: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with path.open("rb") as file:
        subprocess.run(command, stdin=file, stdout=subprocess.DEVNULL, check=True, env={**os.environ, "LC_ALL": "C"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Run what the command line names."""
    folders = [Path(name) for name in sys.argv[2:]] or [CORPUS]
    logs: Logs = {f"{folder.name}/{log.id}": log.log for folder in folders for log in read_folder(folder)}
    sets = {"as they are": as_they_are(logs), "tracebacks made 5 KB long": lengthened(logs)}
    for name, chosen in sets.items():
        if sys.argv[1] == "warm":
            warm(name, chosen)
        else:
            few = dict(list(chosen.items())[:: max(len(chosen) // 40, 1)])
            for form in ("json", "text"):
                start(name, few, form)


if __name__ == "__main__":
    main()
