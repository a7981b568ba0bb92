"""What all renderings share: safe text, the answer in one line, words for safety and probability."""

from __future__ import annotations

import unicodedata

from ..report import Diagnosis, EvidenceItem, MachineInfo, Report

SAFETY = {
    "inspect": "only looks",
    "reversible": "changes something that can be undone",
    "destructive": "ends what runs, or removes or overwrites something",
}
_WORTH_TELLING = 0.03
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}
_BLANK = "\t\n\r\u2028\u2029"
_HEADLINE = 300


def visible(text: str) -> str:
    """``text`` on one line, character for character, without control, format or unassigned ones: nothing that styles or
    reorders a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(" " if c in _BLANK else "�" if unicodedata.category(c) in _INVISIBLE else c for c in text)


def visible_lines(text: str) -> str:
    """The same of each line of ``text``."""
    return "\n".join(visible(line) for line in text.split("\n"))


def cut(text: str, most: int) -> str:
    """``text`` made visible, and cut to ``most`` characters."""
    return visible(text) if len(text) <= most else visible(text[: most - 1]) + "…"


def headline(report: Report) -> str:
    """The answer, in one line."""
    return cut(report.summary, _HEADLINE)


def unread(report: Report) -> str:
    """That not all of the input could be read."""
    return f"Not all was read: {report.input.note}."


def percent(diagnosis: Diagnosis) -> str:
    """The confidence as people read it."""
    return f"{diagnosis.confidence:.0%}"


def status(diagnosis: Diagnosis, report: Report) -> str:
    """The status as people read it."""
    said = {"suspected": "suspected", "confirmed": "confirmed on", "refuted": "ruled out on"}[diagnosis.status]
    return said if diagnosis.status == "suspected" else f"{said} {report.machine.name}"


def reason(item: EvidenceItem, report: Report) -> str:
    """What a piece of evidence says, and whether it is for or against."""
    if item.kind == "probe":
        return f"{'confirmed' if item.supports else 'ruled out'} on {report.machine.name}: {item.why}"
    return item.why if item.supports else f"against: {item.why}"


def ruled_out(report: Report) -> tuple[Diagnosis, ...]:
    """The diagnoses after the first that a look at the machine refuted."""
    return tuple(d for d in report.diagnoses[1:] if d.status == "refuted")


def refutations(diagnosis: Diagnosis) -> tuple[EvidenceItem, ...]:
    """The readings that refute a diagnosis."""
    return tuple(e for e in diagnosis.evidence if e.kind == "probe" and not e.supports)


def counted(machine: MachineInfo) -> str:
    """What becomes of readings that contradict the log."""
    return "its readings count all the same" if machine.readings == "assumed" else "so its readings decide nothing"


def looked_at(report: Report) -> str:
    """What was looked at, in one line; empty where no machine was."""
    if report.machine.readings == "none":
        return ""
    with_what = f" with {visible(report.machine.interpreter)}" if report.machine.interpreter else ""
    return f"Looked at {report.machine.name}{with_what}"


def rivals(report: Report) -> tuple[Diagnosis, ...]:
    """The diagnoses after the first that a person should hear of: those of three per cent or more, and
    those confirmed; not those ruled out."""
    return tuple(
        d
        for d in report.diagnoses[1:]
        if d.status == "confirmed" or (d.status == "suspected" and d.confidence >= _WORTH_TELLING)
    )
