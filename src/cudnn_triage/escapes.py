"""Terminal control in a log: colours, cursor movement, carriage returns, backspaces, invisible characters."""

from __future__ import annotations

import re

from .drafts import Draft, Edit
from .light import pattern

_CSI = r"[0-?]{0,64}[ -/]{0,8}[@-~]"
_CONTROL = pattern(
    rf"""
    (?:\x1b\[|\x9b) (?P<csi>{_CSI})
  | \x1b[\]PX^_] [^\x07\x1b\x9c\n]{{0,8192}} (?:\x07|\x1b\\|\x9c)     # titles, hyperlinks, Buildkite's times
  | \x1b[ -/]{{0,4}}[0-~]?
  | (?P<space>[\xa0\u2000-\u200a\u202f\u205f\u3000])
  | (?P<broken>[\ud800-\udfff])
  | [\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]
    """,
    re.VERBOSE,
)
# cursor movement that leaves the line or goes back in it: what follows overwrites or stands elsewhere
_MOVES = frozenset("ABEFGHJfdST")

# the same, spelt out by a program that quoted its output, or with the escape byte lost on the way
_SPELT = pattern(rf"(?:\\x1[bB]|\\u001[bB]|\\033|\#033|\\e|\^\[|\u241b)\[(?P<csi>{_CSI})")
_SPELT_SIGNS = ("\\x1b[", "\\x1B[", "\\u001b[", "\\u001B[", "\\033[", "#033[", "\\e[", "^[[", "\u241b[")
_SPELT_OPENERS = ("\\", "#033[", "^[", "\u241b")
_LEFT = pattern(r"\[(?:\d{1,3}(?:;\d{1,3}){0,8}m(?!\])|0?[mK](?![\w\]]))")
_LEFT_SIGNS = ("0m", "0;", "39m", "m", "22m", "1m", "2K")  # behind the bracket

_MANY_BACKSPACES = pattern("\x08{4,}")
_OVERSTRUCK = pattern("[^\x08\r]\x08")

_BAR = pattern(
    r"\d{1,3}%(?:\|[^|\r\n]{0,300}\|)? {0,4}[\d.?]{1,20}[kMGTP]?i?B?/[\d.?]{1,20}[kMGTP]?i?B? {0,2}\[[^\[\]\r\n]{0,200}\]"
)
_LONGEST_LABEL = 100
_PROGRESS = pattern(
    r"\d{1,3}(?:\.\d{1,3})?%|\bETA\b|\b\d+/\d+\b|it/s|s/it|[\u2580-\u259f\u2501\u2578-\u257b\u28c0-\u28ff]"
)
_VARIES = pattern(
    r"[\d.,:?<>=#~+*\\|/ \u2500-\u259f\u2800-\u28ff-]+(?:(?:[kKMGT]?i?[Bb]|it|s|ms)(?:/(?:s|it|step))?(?![A-Za-z]))?"
)


class Terminal:
    """What kinds of control characters one log has, so that lines without any cost next to nothing."""

    def __init__(self, text: str) -> None:
        self._spelt = any(opener in text for opener in _SPELT_OPENERS) and any(sign in text for sign in _SPELT_SIGNS)
        self._left = any(rest.startswith(_LEFT_SIGNS) for rest in text.split("[")[1:])
        self.coloured = "\x1b" in text or self._spelt or self._left
        self.bars = "%" in text and ("/s" in text or "s/it" in text)

    def lines(self, draft: Draft) -> list[Draft]:
        """The lines that one raw line shows, controls removed: more than one where it overwrites itself."""
        if not draft.text.replace("\t", "").isprintable():
            _remove(draft, _CONTROL)
        if self._spelt:
            _remove(draft, _SPELT)
        if self._left and "[" in draft.text:
            _remove(draft, _LEFT)
        text = draft.text
        if "\x08" in text:
            _backspaces(draft)
            text = draft.text
        return self._overwritten(draft) if "\r" in text else [draft]

    def _overwritten(self, draft: Draft) -> list[Draft]:
        spans: list[tuple[int, int]] = []
        shape = ""
        position = 0
        for piece in draft.text.split("\r"):
            end = position + len(piece)
            if piece and not piece.isspace():
                # one progress bar after the other: the last one tells all
                fresh = _VARIES.sub("0", piece) if len(piece) < 1000 and _PROGRESS.search(piece) else piece
                if fresh == shape:
                    spans[-1] = (position, end)
                else:
                    spans.append((position, end))
                shape = fresh
            position = end + 1
        if not spans:
            draft.trim(0)
            return [draft]
        return draft.split(spans)


def apart(draft: Draft) -> list[Draft]:
    """Take apart a line of progress bars whose carriage returns are lost, and what was printed behind a bar."""
    text = draft.text
    spans: list[tuple[int, int]] = []
    label: str | None = None
    position = 0
    for match in _BAR.finditer(text):
        before = text[position : match.start()].strip()
        if label is None or before == label:
            if label is not None:
                spans.pop()
            label = before
            spans.append((position, match.end()))
        elif before.endswith(":") and len(before) <= _LONGEST_LABEL:  # another bar
            label = before
            spans.append((position, match.end()))
        else:  # printed between two bars
            if before:
                spans.append((position, match.start()))
            label = ""
            spans.append((match.start(), match.end()))
        position = match.end()
    if label is None:
        return [draft]
    if text[position:].strip():
        spans.append((position, len(text)))
    if len(spans) == 1 and spans[0] == (0, len(text)):
        return [draft]
    return draft.split(spans)


def _remove(draft: Draft, pattern: re.Pattern[str]) -> None:
    edits: list[Edit] = []
    for match in pattern.finditer(draft.text):
        kind = match.lastgroup
        new = ""
        if kind == "csi":
            last = match.group()[-1]
            new = "\r" if last in _MOVES else " " if last == "C" else ""
        elif kind == "space":
            new = " "
        elif kind == "broken":
            new = "\ufffd"
        edits.append((match.start(), match.end(), new))
    if edits:
        draft.edit(edits)


def _backspaces(draft: Draft) -> None:
    edits: list[Edit] = [(match.start(), match.end(), "\r") for match in _MANY_BACKSPACES.finditer(draft.text)]
    if edits:
        draft.edit(edits)
    for _ in range(3):  # bold and underlined text is overstruck once, seldom more
        edits = [(match.start(), match.end(), "") for match in _OVERSTRUCK.finditer(draft.text)]
        if not edits:
            break
        draft.edit(edits)
    edits = [(match.start(), match.end(), "") for match in re.finditer("\x08", draft.text)]
    if edits:
        draft.edit(edits)
