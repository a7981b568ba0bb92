"""The report as Markdown for a comment: the answer first; text from the log only inside code fences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..report import Diagnosis, EvidenceItem, FixItem, Report
from .plain import SAFETY, counted, cut, percent, reason, refutations, rivals, ruled_out, status, unread, visible

_WIDTH = 300  # characters of a log line that a comment shows
_LISTED = 10


def to_markdown(report: Report) -> str:
    """Markdown that nothing in the log can break out of: no mention, link, HTML or fence of its own."""
    return "\n".join(_parts(report)).rstrip() + "\n"


def heading(name: str) -> str:
    """The heading over one of several reports: the log's name, which may be any text, as code."""
    return f"### {code(cut(name, _WIDTH))}\n\n"


def _parts(report: Report) -> Iterator[str]:
    if report.diagnoses:
        best, others = report.diagnoses[0], rivals(report)
        yield f"**{best.title}** (`{best.cause}`, {percent(best)}, {status(best, report)})\n"
        yield from _evidence(best, report)
        yield from _elsewhere(report)
        yield f"{best.explanation}\n"
        for number, fix in enumerate(best.fixes, 1):
            yield from _fix(f"Fix {number}", fix)
        if best.dead_ends:
            yield "<details><summary>What does not help</summary>\n"
            yield from (f"- {dead.tried}: {dead.why}" for dead in best.dead_ends)
            yield "\n</details>\n"
        if others:
            yield "Also wrong:\n" if report.machine.readings == "only" else "Also possible:\n"
            yield from (f"- {percent(other)} `{other.cause}`: {other.title}{_settled(other)}" for other in others)
            yield ""
        if refuted := ruled_out(report):
            yield f"Ruled out on {report.machine.name}:\n"
            yield from (f"- `{other.cause}`: {_why(refutations(other))}" for other in refuted)
            yield ""
        if best.references:
            yield "Read more: " + ", ".join(f"[{r.title}]({r.url})" for r in best.references) + "\n"
    else:
        yield f"**{_verdict(report)}**\n"
        yield from _elsewhere(report)
        if report.failed:
            yield "Where it failed:\n"
            yield fenced(f"{line.line} | {line.text}" for line in report.failed[-_LISTED:])
            yield from (f"- line {line.line}: {line.why}" for line in report.failed[-_LISTED:] if line.why)
        if report.also:
            yield "Wrong as well, once that is mended:\n"
            yield from (f"- line {item.line}: {item.title} (`{item.cause}`)" for item in report.also)
            yield ""
        for step in report.next_steps:
            yield from _fix("Next step", step)
    if report.input.note:
        yield f"{code(unread(report))}\n"
    if report.unexplained:
        yield "Not explained by any rule:\n"
        yield fenced(f"{line.line} | {line.text}" for line in report.unexplained[:_LISTED])
    if report.benign:
        yield f"<details><summary>Harmless messages ({len(report.benign)})</summary>\n"
        yield from (f"- line {item.line}: {item.why}" for item in report.benign[:_LISTED])
        yield "\n</details>\n"
    if report.probes:
        yield f"<details><summary>Looked at {report.machine.name} ({len(report.probes)} probes)</summary>\n"
        yield fenced(
            visible(f"{p.name}: {p.status}, {p.seconds:.1f} s {p.reason} {p.why}").rstrip() for p in report.probes
        )
        yield "</details>"


def _settled(diagnosis: Diagnosis) -> str:
    if diagnosis.status != "confirmed":
        return ""
    return f" (confirmed: {_why(e for e in diagnosis.evidence if e.kind == 'probe' and e.supports)})"


def _why(items: Iterable[EvidenceItem]) -> str:
    return "; ".join(f"{item.why}, {code(cut(item.text, _WIDTH))}" for item in items)


def _elsewhere(report: Report) -> Iterator[str]:
    machine = report.machine
    if machine.differences:
        yield f"The log does not seem to be from {machine.name}; {counted(machine)}:\n"
        yield from (f"- {d.why}, {code(cut(d.text, _WIDTH))}" for d in machine.differences)
        yield ""


def _verdict(report: Report) -> str:
    if report.machine.readings == "only":
        return report.summary
    if report.verdict == "benign":
        return "Nothing is wrong: harmless messages only."
    if report.verdict == "unrelated":
        return "No GPU cause found." if report.failed else "No GPU cause found, and no failure in the log."
    if report.verdict == "empty":
        return "The log is empty."
    return "An error of this field that no rule explains."


def _evidence(best: Diagnosis, report: Report) -> Iterator[str]:
    shown = [e for e in best.evidence if e.supports or e.kind == "probe"][:3]
    lines = [_evidence_line(e, report) for e in shown]
    if lines:
        yield fenced(lines)


def _evidence_line(item: EvidenceItem, report: Report) -> str:
    if not item.line or item.kind == "probe":
        return f"= {reason(item, report)} ({item.text})" if item.text else f"= {reason(item, report)}"
    return f"{item.line} | {item.text}"


def _fix(called: str, fix: FixItem) -> Iterator[str]:
    applies = f" ({fix.applies})" if fix.applies else ""
    yield f"**{called}: {fix.title}**{applies}: {SAFETY[fix.safety]}. {fix.why}\n"
    if fix.commands:
        yield fenced(fix.commands, "sh", whole=True)
    for need in fix.missing:
        reason = "To complete the command, find out" if fix.has_hole(need) else "What would decide between versions"
        yield f"{reason}: {code(need)}\n"
    if fix.verify:
        yield "Check:\n"
        yield fenced(fix.verify, "sh", whole=True)


def fenced(lines: Iterable[str], language: str = "", *, whole: bool = False) -> str:
    """A code fence longer than any run of back-ticks in it; long rows are cut unless they are wanted ``whole``."""
    rows = [visible(row) if whole else cut(row, _WIDTH) for line in lines for row in (line.splitlines() or [""])]
    fence = "`" * max(3, 1 + max((_longest_run(row) for row in rows), default=0))
    return "\n".join([f"{fence}{language or 'text'}", *rows, fence, ""])


def code(text: str) -> str:
    """Inline code that its own back-ticks cannot end."""
    text = visible(text)
    mark = "`" * (1 + _longest_run(text))
    return f"{mark} {text} {mark}" if "`" in text else f"`{text}`"


def _longest_run(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
