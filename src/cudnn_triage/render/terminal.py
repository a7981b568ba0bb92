"""The report for a terminal (rich): the answer first, its evidence in place as a compiler shows it, then what to do."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import IO

from rich.cells import cell_len, get_character_cell_size, set_cell_size
from rich.console import Console, detect_legacy_windows
from rich.text import Text

from ..report import Diagnosis, EvidenceItem, FailedLine, FixItem, LogLine, Report
from .plain import (
    counted,
    headline,
    looked_at,
    percent,
    reason,
    refutations,
    rivals,
    ruled_out,
    status,
    unread,
    visible,
    visible_lines,
)

NARROWEST = 40
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
_CLOSE = 0.2  # another cause this probable is named beside the first


class Sheet(io.StringIO):
    """A text buffer that rich takes for the stream that it stands for, so that a report is made whole and written once."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__()
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._stream.isatty()


def console(stream: IO[str], width: int | None, color: bool | None) -> Console:
    """A console that treats all text as text: no markup, no emoji, no highlighting."""
    return Console(
        file=stream,
        width=width,
        no_color=color is False,
        force_terminal=True if color else None,
        color_system=None if color is False or detect_legacy_windows() else "auto",
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )


def print_report(report: Report, out: Console, *, verbose: bool = False) -> None:
    """Print a report."""
    for row in _Page(report, out, verbose).rows():
        row.rstrip()
        out.print(row, soft_wrap=True)


def print_name(name: str, out: Console) -> None:
    """Print the name of a log over its report: any text, on one row."""
    page = _Page(None, out, verbose=False)
    out.print(Text(page.cut(name, page.width), style="bold"), soft_wrap=True)


class _Page:
    """The rows of one report, laid out for one console."""

    def __init__(self, report: Report | None, out: Console, verbose: bool) -> None:
        self.out = out
        self.width = max(out.width, NARROWEST)
        self.encoding = out.encoding or "ascii"
        self.ellipsis = "…" if self.shown("…") == "…" else "..."
        self.verbose = verbose
        self.name = self.shown(visible(report.input.name)) if report else ""
        self.report = report

    def shown(self, text: str) -> str:
        """``text`` as this console can show it, character for character; its lines stay."""
        return visible_lines(text).encode(self.encoding, "replace").decode(self.encoding, "replace")

    def cut(self, text: str, room: int) -> str:
        """``text`` on one row of at most ``room`` columns."""
        text = self.shown(visible(text[: 2 * room + 1]))
        if cell_len(text) <= room:
            return text
        return set_cell_size(text, room - len(self.ellipsis)).rstrip() + self.ellipsis

    def wrapped(self, text: Text | str, lead: str = "") -> Iterator[Text]:
        """``text`` wrapped at words behind ``lead``; further rows begin below its first."""
        whole = text if isinstance(text, Text) else Text(self.shown(text))
        for number, row in enumerate(whole.wrap(self.out, self.width - len(lead))):
            yield Text.assemble(" " * len(lead) if number else lead, row)

    def rows(self) -> Iterator[Text]:
        """All rows of the report."""
        report = self.report
        if report is None:
            return
        if report.diagnoses:
            yield from self._diagnosed(report, report.diagnoses[0], rivals(report))
        else:
            yield Text(self.cut(headline(report), self.width), style=_VERDICT_STYLE[report.verdict])
            yield from self._elsewhere(report)
            if report.failed and report.verdict != "benign":
                yield Text()
                yield from self._listing("Where it failed", report.failed[-_LISTED:])
            if report.also:
                yield Text()
                told = (FailedLine(item.line, item.text, f"{item.title} ({item.cause})") for item in report.also)
                yield from self._listing("Wrong as well, once that is mended", tuple(told))
            yield Text()
            for step in report.next_steps:
                yield from self._fix("Next step", step)
        if report.unexplained:
            lines = report.unexplained if self.verbose else report.unexplained[:_LISTED]
            yield from self._listing(f"Not explained by any rule ({len(report.unexplained)})", lines)
            yield Text()
        if report.benign:
            shown = report.benign if self.verbose else report.benign[:_LISTED]
            yield Text("Harmless, ignore", style="bold")
            for item in shown:
                times = f" ({item.count} times)" if item.count > 1 else ""
                yield from self.wrapped(item.why, f"  line {item.line}{times}: ")
            if rest := len(report.benign) - len(shown):
                yield Text(f"  and {rest} more (--verbose shows all)")
        if report.probes:
            if report.benign:
                yield Text()
            yield from self._looked_at(report)
        if report.input.note:
            yield Text()
            yield from self.wrapped(Text(self.shown(visible(unread(report))), "yellow"))

    def _diagnosed(self, report: Report, best: Diagnosis, others: tuple[Diagnosis, ...]) -> Iterator[Text]:
        yield from self.wrapped(Text(self.shown(best.title), "bold red"))
        likely = f"{percent(best)} likely, {status(best, report)}"
        likely = "  " + (likely if report.machine.readings != "only" else status(best, report))
        close = [f"{o.cause} {percent(o)}" for o in others if o.confidence >= _CLOSE]
        next_best = f"; or {', '.join(close)}" if close else ""
        yield from self.wrapped(Text.assemble((self.shown(best.cause), "bold"), likely, self.shown(next_best)))
        yield Text()
        yield from self._evidence(report, best)
        yield from self._elsewhere(report)
        yield from self.wrapped(best.explanation)
        yield Text()
        for number, fix in enumerate(best.fixes, 1):
            yield from self._fix(f"Fix {number}" if len(best.fixes) > 1 else "Fix", fix)
        if best.status == "confirmed":
            yield from self.wrapped(f"cudnn-triage verify {best.cause}", "Afterwards, to see whether it is gone: ")
            yield Text()
        if best.dead_ends:
            yield Text("What does not help", style="bold")
            for dead in best.dead_ends:
                yield from self.wrapped(f"{dead.tried}: {dead.why}", "  - ")
            yield Text()
        if others:
            heading = "Also wrong" if report.machine.readings == "only" else "Also possible"
            yield Text(f"{heading} (more: cudnn-triage explain NAME)", style="bold")
            for other in others:
                text = Text.assemble((self.shown(other.cause), "bold"), f"  {self.shown(other.title)}")
                share = f"{percent(other):>4}  " if report.machine.readings != "only" else ""
                yield from self.wrapped(text, f"  {share}")
                for item in other.evidence:
                    if item.kind == "probe" and item.supports:
                        yield from self.wrapped(f"{reason(item, report)} ({item.text})", "        ")
            yield Text()
        if refuted := ruled_out(report):
            yield Text(f"Ruled out on {self.shown(report.machine.name)}", style="bold")
            for other in refuted:
                why = "; ".join(f"{item.why} ({item.text})" for item in refutations(other))
                yield from self.wrapped(Text.assemble((other.cause, "bold"), f"  {self.shown(why)}"), "  - ")
            yield Text()
        if best.references:
            yield Text("Read more", style="bold")
            for reference in best.references:
                name, url = self.shown(reference.title), self.shown(reference.url)
                if cell_len(name) + len(url) + 4 <= self.width:
                    yield Text(f"  {name}: {url}")
                else:
                    yield from self.wrapped(name + ":", "  ")
                    yield Text(f"    {url}")
            yield Text()

    def _elsewhere(self, report: Report) -> Iterator[Text]:
        """That the readings are of another machine, and what that means."""
        machine = report.machine
        if not machine.differences:
            return
        heading = f"The log does not seem to be from {machine.name}; {counted(machine)}:"
        yield from self.wrapped(Text(self.shown(heading), "bold yellow"))
        for difference in machine.differences:
            yield from self.wrapped(visible(f"{difference.why} ({difference.text})"), "  - ")
        if machine.readings == "ignored":
            yield from self.wrapped("--assume-local lets them count", "  ")
        yield Text()

    def _looked_at(self, report: Report) -> Iterator[Text]:
        """Which probes ran, how each ended and what for."""
        yield from self.wrapped(Text(self.shown(looked_at(report)), "bold"))
        for probe in report.probes:
            ended = probe.status + (f": {probe.reason}" if probe.reason else "")
            why = f"  [{probe.why}]" if probe.why else ""
            yield from self.wrapped(
                visible(f"{ended}, {probe.seconds:.1f} s{why}"), f"  {self.shown(visible(probe.name)):12} "
            )
        if self.verbose:
            for fact in report.facts:
                if fact.origin == "local":
                    yield from self.wrapped(visible(f"{fact.name} = {fact.value}"), "    ")
        yield Text()

    def _evidence(self, report: Report, best: Diagnosis) -> Iterator[Text]:
        placed = [e for e in best.evidence if e.column]
        by_line: dict[int, list[EvidenceItem]] = {}
        for item in placed if self.verbose else [e for e in placed if e.supports][:_EVIDENCE_SHOWN] or placed[:1]:
            by_line.setdefault(item.line, []).append(item)
        for items in by_line.values():
            yield from self._in_place(items, report)
            yield Text()
        facts = [e for e in best.evidence if not e.column]
        facts = facts if self.verbose else [e for e in facts if e.supports or e.kind == "probe"][:_EVIDENCE_SHOWN]
        for item in facts:
            value = "; ".join(filter(None, [item.text, f"line {item.line}" if item.line else ""]))
            style = "bold green" if item.kind == "probe" else ""
            text = self.shown(reason(item, report) + (f" ({value})" if value else ""))
            yield from self.wrapped(Text(text, style), "  = ")
        if facts:
            yield Text()

    def _in_place(self, items: Sequence[EvidenceItem], report: Report) -> Iterator[Text]:
        """A line of the log with the first of what is found on it marked, and what each means."""
        item = items[0]
        number = str(item.line)
        gutter = " " * len(number)
        place = f":{item.line}:{item.column}"
        name = self.name
        if cell_len(name) + len(place) + len(gutter) + 4 > self.width:  # the end of a path says most
            name = _last_cells(name, self.width - len(place) - len(gutter) - 4 - len(self.ellipsis), self.ellipsis)
        yield Text.assemble(f"{gutter}--> ", (name + place, "cyan"))
        text, start, length = self.excerpt(item, self.width - len(number) - 3)
        yield Text.assemble((f"{number} | ", "blue"), text)
        yield Text.assemble((f"{gutter} | ", "blue"), " " * start, ("^" * length, "bold red"))
        meanings = (reason(i, report) + (" (approximately)" if i.match == "fuzzy" else "") for i in items)
        for meaning in dict.fromkeys(meanings):
            yield from self.wrapped(meaning, f"{gutter} = ")
        if echoes := sorted({line for i in items for line in i.echoes}):
            places = ", ".join(map(str, echoes[:8])) + (", ..." if len(echoes) > 8 else "")
            many = "s" if len(echoes) > 1 else ""
            verb = "follow" if many else "follows"
            yield from self.wrapped(f"the error{many} at line {places} only {verb} from it", f"{gutter} = ")

    def excerpt(self, item: EvidenceItem, room: int) -> tuple[str, int, int]:
        """The evidence's line cut to ``room`` columns around it, and the columns where the evidence begins and how many it is."""
        start = min(item.offset, max(len(item.text) - 1, 0))
        first = max(start - 2 * room, 0)
        text = self.shown(visible(item.text[first : start + 2 * room]))
        start -= first
        begin, head, tail = 0, "", ""
        if first or len(item.text) > first + len(text) or cell_len(text) > room:
            inner = room - 2 * len(self.ellipsis)
            before = max(inner // 6, inner - cell_len(text[start:]))
            begin = start
            while begin and (before := before - get_character_cell_size(text[begin - 1])) >= 0:
                begin -= 1
            rest = text[begin:]
            if first or begin:
                head = self.ellipsis
            if cell_len(rest) > inner or first + len(text) < len(item.text):
                tail = self.ellipsis
            text = set_cell_size(rest, inner) if cell_len(rest) > inner else rest
        at = len(head) + cell_len(text[: start - begin])
        length = cell_len(text[start - begin : start - begin + max(item.length, 1)])
        return head + text.rstrip() + tail, at, max(1, min(length, room - len(tail) - at))

    def _fix(self, called: str, fix: FixItem) -> Iterator[Text]:
        safety = (f" [{fix.safety}]", _SAFETY_STYLE[fix.safety])
        title = (f": {self.shown(fix.title)}", "bold green")
        yield from self.wrapped(Text.assemble((called, "bold green"), safety, title))
        if fix.applies:
            yield from self.wrapped(fix.applies, "  for: ")
        for command in fix.commands:
            for number, line in enumerate(command.splitlines()):
                prompt = "    " if number or line.lstrip().startswith("#") else "  $ "
                yield Text.assemble(prompt, (self.shown(visible(line)), "bold"))
        for need in fix.missing:
            label = "  to fill in: " if fix.has_hole(need) else "  would decide: "
            yield from self.wrapped(Text(self.shown(need), "yellow"), label)
        yield from self.wrapped(fix.why, "  why: ")
        for check in fix.verify:
            for number, line in enumerate(check.splitlines()):
                yield Text(("         " if number else "  check: ") + self.shown(visible(line)))
        yield Text()

    def _listing(self, title: str, lines: tuple[LogLine, ...] | tuple[FailedLine, ...]) -> Iterator[Text]:
        yield Text(title, style="bold")
        for line in lines:
            number = str(line.line)
            yield Text.assemble("  ", (f"{number} | ", "blue"), self.cut(line.text, self.width - len(number) - 5))
            if isinstance(line, FailedLine) and line.why:
                yield from self.wrapped(line.why, "      ")


def _last_cells(text: str, room: int, ellipsis: str) -> str:
    begin = len(text)
    while begin and (room := room - get_character_cell_size(text[begin - 1])) >= 0:
        begin -= 1
    return ellipsis + text[begin:]
