"""The report for a terminal (rich): the answer first, its evidence in place as a compiler shows it, then what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..report import Diagnosis, EvidenceItem, FixItem, Report
from .plain import excerpt, headline, percent, visible

_VERDICT_STYLE = {
    "diagnosed": "bold red",
    "benign": "bold green",
    "unrelated": "bold yellow",
    "unexplained": "bold yellow",
    "empty": "bold",
}
_SAFETY_STYLE = {"inspect": "green", "reversible": "cyan", "destructive": "bold red"}
_EVIDENCE_SHOWN = 3
_LISTED = 5


def console(stream: IO[str], width: int | None, color: bool | None) -> Console:
    """A console that treats all text as text: no markup, no emoji, no highlighting; plain letters where the stream has no Unicode."""
    return Console(
        file=stream,
        width=width,
        no_color=color is False,
        force_terminal=True if color else None,
        color_system="auto" if color is not False else None,
        markup=False,
        emoji=False,
        highlight=False,
        safe_box=True,
    )


def print_report(report: Report, out: Console, *, verbose: bool = False) -> None:
    """Print a report."""
    unicode = (out.encoding or "ascii").lower().startswith("utf")
    for block in _blocks(report, max(out.width, 40), unicode, verbose):
        out.print(block, soft_wrap=isinstance(block, Text) and block.no_wrap is True)


def _blocks(report: Report, width: int, unicode: bool, verbose: bool) -> Iterator[Text | Padding]:
    if report.diagnoses:
        best, *others = report.diagnoses
        yield Text.assemble((visible(best.title), "bold red"))
        yield Text.assemble((f"{best.cause}", "bold"), f"  {percent(best)} likely, {best.status}")
        yield Text()
        yield from _evidence(report, best, width, unicode, verbose)
        yield Text(best.explanation + "\n")
        yield from _fixes(best)
        yield from _dead_ends(best)
        if others:
            yield Text("Also possible", style="bold")
            for other in others:
                yield _indented(Text.assemble(f"{percent(other):>4}  ", (other.cause, "bold"), f"  {other.title}"), 2)
            yield Text()
        yield from _references(best)
    else:
        yield Text(headline(report), style=_VERDICT_STYLE[report.verdict])
        if report.failed and report.verdict != "benign":
            yield Text("\nWhere it failed", style="bold")
            for failure in report.failed[-_LISTED:]:
                yield _log_line(failure.line, failure.text, width, unicode)
        yield Text()
    if report.unexplained:
        yield Text(f"Not explained by any rule ({len(report.unexplained)})", style="bold")
        for line in report.unexplained if verbose else report.unexplained[:_LISTED]:
            yield _log_line(line.line, line.text, width, unicode)
        yield Text()
    if report.benign:
        shown = report.benign if verbose else report.benign[:_LISTED]
        rest = len(report.benign) - len(shown)
        yield Text("Harmless, ignore", style="bold")
        for item in shown:
            times = f" ({item.count} times)" if item.count > 1 else ""
            yield _indented(Text(f"line {item.line}{times}: {item.why}"), 2)
        if rest:
            yield Text(f"  and {rest} more (--verbose shows all)")


def _evidence(report: Report, best: Diagnosis, width: int, unicode: bool, verbose: bool) -> Iterator[Text | Padding]:
    placed = [e for e in best.evidence if e.line]
    shown = placed if verbose else [e for e in placed if e.supports][:_EVIDENCE_SHOWN] or placed[:1]
    for item in shown:
        yield from _one_evidence(report, item, width, unicode)
    facts = [e for e in best.evidence if not e.line]
    for item in facts if verbose else [e for e in facts if e.supports][:_EVIDENCE_SHOWN]:
        sign = "" if item.supports else "against: "
        value = f" ({visible(item.text)})" if item.text else ""
        yield _indented(Text(f"= {sign}{item.why}{value}"), 2)
    if facts:
        yield Text()


def _one_evidence(report: Report, item: EvidenceItem, width: int, unicode: bool) -> Iterator[Text | Padding]:
    number = str(item.line)
    gutter = " " * len(number)
    ellipsis = "…" if unicode else "..."
    text, start, length = excerpt(item, width - len(number) - 4, ellipsis)
    yield _row(Text.assemble(f"{gutter}--> ", (f"{visible(report.input.name)}:{item.line}:{item.column}", "cyan")))
    yield _row(Text.assemble((f"{number} | ", "blue"), text))
    carets = "^" * max(1, min(length, width - len(number) - 3 - start))
    yield _row(Text.assemble((f"{gutter} | ", "blue"), " " * start, (carets, "bold red")))
    extra = " (approximately)" if item.match == "fuzzy" else ""
    sign = "" if item.supports else "against: "
    yield _indented(Text(f"= {sign}{item.why}{extra}"), len(number) + 1)
    if item.echoes:
        places = ", ".join(map(str, item.echoes[:8])) + (", ..." if len(item.echoes) > 8 else "")
        yield _indented(Text(f"= the errors at line {places} only follow from it"), len(number) + 1)
    yield Text()


def _fixes(best: Diagnosis) -> Iterator[Text | Padding]:
    for number, fix in enumerate(best.fixes, 1):
        applies = f"  ({fix.applies})" if fix.applies else ""
        heading = f"Fix {number}: {fix.title}" if len(best.fixes) > 1 else f"Fix: {fix.title}"
        yield Text.assemble((heading, "bold green"), f"{applies}  ", (f"[{fix.safety}]", _SAFETY_STYLE[fix.safety]))
        yield from _commands(fix)


def _commands(fix: FixItem) -> Iterator[Text | Padding]:
    for command in fix.commands:
        for i, line in enumerate(command.splitlines()):
            yield _row(Text.assemble("  $ " if i == 0 else "    ", (visible(line), "bold")))
    yield _indented(Text(fix.why), 2)
    for need in fix.missing:
        yield _indented(Text(f"To complete the command, find out: {need}", style="yellow"), 2)
    for check in fix.verify:
        lines = check.splitlines()
        yield _row(Text(f"  check: {visible(lines[0])}"))
        for line in lines[1:]:
            yield _row(Text(f"         {visible(line)}"))
    yield Text()


def _dead_ends(best: Diagnosis) -> Iterator[Text | Padding]:
    if best.dead_ends:
        yield Text("What does not help", style="bold")
        for dead in best.dead_ends:
            yield _indented(Text(f"- {dead.tried}: {dead.why}"), 2)
        yield Text()


def _references(best: Diagnosis) -> Iterator[Text | Padding]:
    if best.references:
        yield Text("Read more", style="bold")
        for reference in best.references:
            yield _row(Text(f"  {reference.title}: {reference.url}"))
        yield Text()


def _row(text: Text) -> Text:
    text.no_wrap = True
    return text


def _indented(text: Text, by: int) -> Padding:
    return Padding(text, (0, 0, 0, by), expand=False)


def _log_line(number: int, text: str, width: int, unicode: bool) -> Text:
    room = width - len(str(number)) - 5
    shown = visible(text)
    if len(shown) > room:
        shown = shown[: room - 3] + ("…" if unicode else "...")
    return _row(Text.assemble("  ", (f"{number} | ", "blue"), shown))
