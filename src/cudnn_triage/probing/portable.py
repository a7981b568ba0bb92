"""The main part of the file that ``probe --script`` prints: runs every probe and writes their readings as JSON.

In that file it stands behind runner.py. Python 3.8, standard library.
"""

import concurrent.futures
import json
import os
import sys
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .runner import UNTOUCHED, Order, Running


def main(tool: "dict[str, Any]", supervisor: str, parts: "list[str]", probes: "list[dict[str, Any]]") -> None:
    """Run all probes, those that touch the GPU one at a time. ``tool`` is the head of a file of readings, ``parts`` the
    pieces of programs; a probe has an id, the numbers of its parts, and its limits."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
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
    json.dump(dict(tool, interpreter=python, probes=found), sys.stdout, indent=1)
    print()
