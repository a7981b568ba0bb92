"""The main part of the file that ``probe --script`` prints: runs every probe and writes their readings as JSON.

In that file it stands behind runner.py. Python 3.8, standard library.
"""

import concurrent.futures
import json
import os
import shutil
import sys
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import UNTOUCHED, Order, Running


def main(tool: "dict[str, Any]", supervisor: str, parts: "list[str]", probes: "list[dict[str, Any]]") -> None:
    """Run all probes, those that touch the GPU one at a time. ``tool`` is the head of a file of readings, ``parts`` the
    pieces of programs; a probe has an id, the numbers of its parts, and its limits."""
    python = examined(sys.argv[1:])
    print(f"examining {python}", file=sys.stderr)

    def examine(entry: "dict[str, Any]") -> "dict[str, Any]":
        program = "\n".join(parts[i] for i in entry["parts"]).encode()
        order = Order(entry["id"], program, python, UNTOUCHED, [], entry["seconds"], entry["memory"])
        found = Running(order, supervisor).run()
        why = f" ({found['reason']})" if found["reason"] else ""
        print(f"{entry['id']}: {found['status']}, {found['seconds']:.1f} s{why}", file=sys.stderr)
        return found

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        try:
            beside = [pool.submit(examine, entry) for entry in probes if not entry["touches_gpu"]]
            found = [examine(entry) for entry in probes if entry["touches_gpu"]]
            found += [future.result() for future in beside]
        except KeyboardInterrupt:
            os._exit(130)  # the supervisors see that and end their probes
    try:
        print(json.dumps(dict(tool, interpreter=python, probes=found), indent=1), flush=True)
    except BrokenPipeError:  # the reader went away: nobody is left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


USAGE = """usage: python look.py [PYTHON] > readings.json

Looks at this machine and at the Python environment of PYTHON (a path; default: the Python that runs this file).
Takes a minute or two, changes nothing, needs no network and no root. What it finds goes to standard output as JSON:
    cudnn-triage --facts readings.json error.log     settles a log with it, on any machine
    cudnn-triage probe --facts readings.json         says what is wrong with the machine"""


def examined(words: "list[str]") -> str:
    """The interpreter to examine; ends the program with what is wrong, or with the usage where that is asked for."""
    if words and words[0] in ("-h", "--help"):
        print(USAGE)
        sys.exit(0)
    if len(words) > 1 or (words and words[0].startswith("-")):
        sys.exit(f"look.py: expected the path of one Python interpreter, got {' '.join(words)}\n\n{USAGE}")
    python = shutil.which(words[0]) if words else sys.executable
    if not python:
        sys.exit(
            f"look.py: {words[0]}: no such program; name the Python interpreter to examine, such as /path/to/venv/bin/python"
        )
    return python
