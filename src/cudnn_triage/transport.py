"""What a log went through on its way here: an address it was part of (percent signs), UTF-16 shown as if it were bytes, another
program's record that quotes it (backslashes before quotation marks)."""

from __future__ import annotations

from .drafts import Draft, Edit, at_line_ends
from .light import pattern

_PERCENT = pattern(r"%[0-7][0-9A-Fa-f]|(?:%[89A-Fa-f][0-9A-Fa-f])+")
_ZEROS = ("^@", "\\x00", "\\u0000")  # the second byte of each letter, spelt out
_LEAST = 8  # of them in a log that is UTF-16
_QUOTED = pattern(r"\\+(?=[\"'])")
_SHORTEST = 12  # characters of a line by which it can be told of a log


class Transport:
    """Which of these a log went through, so that others cost next to nothing."""

    def __init__(self, text: str) -> None:
        self._percent = "%" in text and ("%0A" in text or "%0a" in text or text.count("%20") > 1)
        self._zeros = [sign for sign in _ZEROS if sign in text and text.count(sign) >= _LEAST]
        alone = " e " in text and " r " in text and " t " in text  # letters that seldom do
        self._blanks = alone and any(map(_spaced_out, text.split("\n")))
        self._quoted = '\\"' in text
        self.changed = bool(self._percent or self._zeros or self._blanks or self._quoted)

    def lines(self, draft: Draft) -> list[Draft]:
        """What one line was before."""
        if self._blanks and (first := _blanks(draft.text)) is not None:
            draft.edit([(at, at + 1, "") for at in range(first, len(draft.text), 2)])
        for sign in self._zeros:
            at = _places(draft.text, sign)
            if len(at) >= _LEAST:
                draft.edit([(place, place + len(sign), "") for place in at])
        if self._quoted and draft.text.count('\\"') > 1:
            draft.edit([(*found.span(), "") for found in _QUOTED.finditer(draft.text)])
        if self._percent and "%" in draft.text and _decode_percent(draft):
            return at_line_ends(draft)
        return [draft]


def _spaced_out(line: str) -> bool:
    """Whether a line tells that its log is UTF-16 of which the zero bytes are shown as blanks; a table of numbers does not."""
    first = _blanks(line)
    said = "" if first is None else line[1 - first :: 2].strip()
    return len(said) >= _SHORTEST and 2 * sum(map(str.isalpha, said)) > len(said)


def _blanks(text: str) -> int | None:
    """Where the blanks of a line begin in which every second character is one; None where that is not so, or where less than
    two characters stand between them."""
    for first in (1, 0):
        if text[first : first + 1] == " " and not text[first::2].strip(" ") and len(text[1 - first :: 2].strip()) > 1:
            return first
    return None


def _places(text: str, sign: str) -> list[int]:
    found = []
    at = text.find(sign)
    while at >= 0:
        found.append(at)
        at = text.find(sign, at + len(sign))
    return found


def _decode_percent(draft: Draft) -> bool:
    """Undo percent-encoding; whether a line end was among it. An address within a log keeps its signs, unless it holds one."""
    text = draft.text
    ends = "%0a" in text.lower()
    if not ends and text.count("%20") < 3:
        return False
    edits: list[Edit] = []
    for match in _PERCENT.finditer(text):
        new = bytes.fromhex(match[0].replace("%", "")).decode("utf-8", "replace")
        if new == "\n" or new == "\t" or new.isprintable():
            edits.append((match.start(), match.end(), new))
        else:
            edits.append((match.start(), match.end(), ""))
    if "%20" not in text and (" " not in text or len(edits) > 3):  # as forms are sent: '+' for a blank
        edits = sorted([*edits, *((at, at + 1, " ") for at in _places(text, "+"))])
    draft.edit(edits)
    return ends
