"""The report as GitHub workflow commands: one annotation that says the answer; the step summary is the Markdown rendering."""

from __future__ import annotations

from ..report import Report
from .plain import cut, headline, reason, unread, visible, visible_lines

_LEVEL = {"diagnosed": "error", "unexplained": "warning", "unrelated": "notice", "benign": "notice", "empty": "notice"}
_LONGEST = 300  # characters of a log line


def annotation(report: Report) -> str:
    """One workflow command. Everything from the log is escaped as data: it can neither end nor begin a command."""
    if report.diagnoses:
        diagnosis = report.diagnoses[0]
        message = [f"{diagnosis.title}. {diagnosis.explanation}"]
        if diagnosis.fixes:
            message += [f"Fix: {diagnosis.fixes[0].title}", *diagnosis.fixes[0].commands]
        where = next((e for e in diagnosis.evidence if e.line), None)
        if where:
            message.append(f"Line {where.line} of {visible(report.input.name)}: {cut(where.text, _LONGEST)}")
        level = "error" if diagnosis.severity == "fatal" else "warning"
        message += [reason(e, report) + f" ({e.text})" for e in diagnosis.evidence if e.kind == "probe"]
        title = f"{diagnosis.cause} ({diagnosis.confidence:.0%}, {diagnosis.status})"
        return f"::{level} title={_property(title)}::{_data(chr(10).join(message))}\n"
    told = f"{headline(report)} {unread(report)}" if report.input.note else headline(report)
    return f"::{_LEVEL[report.verdict]} title=cudnn-triage::{_data(told)}\n"


def _data(text: str) -> str:
    return visible_lines(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
