"""Holds the labelled logs against the readings of one machine: what they confirm and refute of logs that are not from there.

    cudnn-triage probe --save-facts readings.json
    python scripts/measure_readings.py readings.json corpus [FOLDER...]

Most of these logs are from other machines, many without a trace of it, so this is the hardest case for the rule that readings
must not mislead: a healthy log gets no diagnosis, and what is confirmed is an answer that the label accepts.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path

from cudnn_triage.engine import Triager
from cudnn_triage.evaluation.labelled import read_folder
from cudnn_triage.evaluation.measure import examine
from cudnn_triage.examining import Subject


def main() -> None:
    """Print what came out otherwise than by the log alone, then the counts."""
    path, *folders = sys.argv[1:]
    triager = Triager()
    readings = Subject(triager, Namespace(facts=path, save_facts="")).facts()
    labelled = [item for folder in folders for item in read_folder(Path(folder))]
    count: Counter[str] = Counter()
    for item, (log, case) in zip(labelled, examine(triager, labelled), strict=True):
        alone = triager.report(log, case)
        found = triager.report(log, triager.beside(case, readings))
        fair = {*item.gold, *item.acceptable}
        events = [f"readings {found.machine.readings}"]
        if found.diagnoses and not alone.diagnoses:
            events.append("DIAGNOSED only by the readings")
        if found.diagnoses and found.diagnoses[0].status == "confirmed":
            events.append("confirmed first" if found.diagnoses[0].cause in fair else "confirmed first, NOT ACCEPTABLE")
        refuted = [d.cause for d in found.diagnoses if d.status == "refuted"]
        events += ["refuted, an acceptable cause" if cause in fair else "refuted, another cause" for cause in refuted]
        if alone.diagnoses and alone.diagnoses[0].cause in fair and found.diagnoses[0].cause not in fair:
            events.append("acceptable first answer LOST")
        count.update(events)
        if any(event != event.lower() for event in events):
            print(item.id, "; ".join(events), [d.cause for d in found.diagnoses[:2]])
    print(f"{len(labelled)} logs")
    for event, times in count.most_common():
        print(f"{times:6} {event}")


if __name__ == "__main__":
    main()
