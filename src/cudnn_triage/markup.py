"""What web pages, Markdown and consoles leave around a pasted log: entities, tags, escapes, fences, frames, pytest's margin."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .drafts import Draft, Edit, at_line_ends
from .light import pattern

_ENTITY = pattern(
    r"&(?:amp;)?(?:#\d{1,6}|#[xX][0-9a-fA-F]{1,5}|gt|lt|amp|quot|apos|nbsp|ndash|mdash|hellip|[lr][sd]quo);"
)
_TAG = pattern(
    r"</?(?:pre|code|span|font|samp|tt|kbd|small|details|summary|blockquote)(?:\s[^<>\r\n]{0,200})?/?>"
    # behind a name <P> and <TR> are types of a template
    r"|<(?P<line>br|/?div|/p|/li|/tr|(?<!\w<)tr)(?:\s[^<>\r\n]{0,200})?/?>"
    r"|<(?:/|(?<!\w<))(?:table|tbody|td|th|p|ol|ul|li)(?:\s[^<>\r\n]{0,200})?>",
    re.IGNORECASE,
)
_TAG_SIGNS = (  # what may stand behind a tag's "<"
    "pre", "code", "span", "font", "samp", "tt", "kbd", "small", "details", "summary", "blockquote", "br", "div",
    "/pre", "/code", "/span", "/font", "/samp", "/tt", "/kbd", "/small", "/details", "/summary", "/blockquote",
    "/div", "/p", "/li", "p>", "p ", "ol", "ul", "li", "/ol", "/ul",
    "table", "tbody", "tr", "td", "th", "/table", "/tbody", "/tr", "/td", "/th",
)  # fmt: skip
_ESCAPED = pattern(r"\\[\\_*\[\]()<>#+.!|~`{}-]")
_UNESCAPED = pattern(r"(?<!\\)(?:\\\\)*\\[A-Za-z0-9]")  # as in a path of Windows, which Markdown would have doubled
_PLAIN_SHARE = 10  # one underscore in so many may stand without its backslash
_FENCE = pattern(r"\s{0,3}(?:`{3,}|~{3,})[ \t]{0,4}(?P<language>[\w+#.-]{0,20})[ \t]{0,8}$")
_FENCE_BEFORE = pattern(r"\s{0,3}`{3,}(?=[^`\s])")
_FENCE_AFTER = pattern(r"(?<=[^`])`{3,}\s{0,8}$")
_FRAME_BEFORE = pattern(
    "\\s{0,12}(?:[\u256d\u2570\u250c\u2514\u250f\u2517\u251c][\u2500\u2501]{1,400}[> ]{0,2}|[\u2502\u2503][ ]?)"
)
_FRAME_SIGNS = ("\u256d", "\u2570", "\u250c", "\u2514", "\u250f", "\u2517", "\u251c", "\u2502", "\u2503")
_FRAME_ENDS = ("\u256e", "\u256f", "\u2510", "\u2518", "\u2513", "\u251b", "\u2524", "\u2502", "\u2503")
BORDERS = ("\u2502", "\u2503")
_NEARLY_ALL = 0.9
_PYTEST = pattern(r"E(?:   \s*|$)|>(?=\s{3,})")
_MARKED = pattern(r'\s{0,8}> (?=File "|Traceback \(most)')
_POWERSHELL_NOISE = pattern(
    r"\s{0,8}(?:\+ CategoryInfo\s{1,20}:|\+ FullyQualifiedErrorId\s{1,4}:|At line:\d+ char:\d+\s*$|\+\s{1,40}~{1,400}\s*$)"
)
_POWERSHELL_NAME = pattern(r"[\w.-]{1,40}(?:\.exe)?\s:\s(?=Traceback|\d{4}-\d\d-\d\d |WARNING|ERROR|INFO|C:\\)")


class Page:
    """Which kinds of markup a log was pasted with."""

    def __init__(self, text: str) -> None:
        self._entities = "&" in text and _ENTITY.search(text) is not None
        self._tags = "<" in text and ">" in text and _has_tag(text) and _TAG.search(text) is not None
        self._fences = "```" in text or "~~~" in text
        self._escapes = "\\_" in text and _is_escaped(text)
        self.marked = self._entities or self._tags or self._fences or self._escapes

    def lines(self, draft: Draft) -> list[Draft]:
        """What one line holds without the markup of the page it was copied from."""
        if self._entities and "&" in draft.text:
            _decode_entities(draft)
        if self._escapes and "\\" in draft.text:
            draft.edit([(match.start(), match.start() + 1, "") for match in _ESCAPED.finditer(draft.text)])
        parts = _remove_tags(draft) if self._tags and "<" in draft.text else [draft]
        if self._fences:
            for part in parts:
                if "```" in part.text or "~~~" in part.text:
                    _unfence(part)
        return parts


def unborder(drafts: Sequence[Draft]) -> None:
    """Take the border between two panes of a terminal off, where it stands behind nearly all lines and before few."""
    full = [draft for draft in drafts if draft.text and not draft.text.isspace()]
    behind = [draft for draft in full if draft.text.rstrip().endswith(BORDERS)]
    if len(behind) < _NEARLY_ALL * len(full) or sum(
        draft.text.lstrip()[:1] in _FRAME_SIGNS for draft in full
    ) * 2 > len(full):
        return
    for draft in behind:
        draft.trim(len(draft.text.rstrip()) - 1)


class Margins:
    """Frames and margins that a program put around its text: rich, pip, pytest, loguru, PowerShell."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._frames = any(text.lstrip()[:1] in _FRAME_SIGNS for text in texts if not text.isascii())
        self._pytest = any(text.startswith(("E   ", "E       ")) for text in texts)
        self._powershell = any("CategoryInfo" in text or "FullyQualifiedErrorId" in text for text in texts)

    def remove(self, draft: Draft) -> None:
        """Take the margins of one line off."""
        text = draft.text
        if self._frames and (match := _FRAME_BEFORE.match(text)) is not None:
            draft.drop(match.end())
            text = draft.text
            if text.rstrip().endswith(_FRAME_ENDS):
                draft.trim(len(text.rstrip()[:-1].rstrip("\u2500\u2501").rstrip(" ")))
                text = draft.text
        if self._pytest and text[:1] in ("E", ">") and (match := _PYTEST.match(text)) is not None:
            if text[0] == "E":
                draft.level = "E"
            draft.drop(match.end())
            text = draft.text
        if "> " in text and (match := _MARKED.match(text)) is not None:
            draft.edit([(match.end() - 2, match.end(), "")])
            text = draft.text
        if self._powershell:
            if _POWERSHELL_NOISE.match(text):
                draft.trim(0)
            elif (match := _POWERSHELL_NAME.match(text)) is not None:
                draft.drop(match.end())


def _is_escaped(text: str) -> bool:
    """Whether a converter made Markdown of the log and put a backslash before each of its underscores: ``CUDNN\\_STATUS``."""
    escaped = text.count("\\_")
    return escaped > 1 and text.count("_") <= escaped * (1 + 1 / _PLAIN_SHARE) and _UNESCAPED.search(text) is None


def _has_tag(text: str) -> bool:
    behind = iter(text.lower().split("<"))
    next(behind)  # what stands before the first one
    return any(rest.startswith(_TAG_SIGNS) for rest in behind)


def _decode_entities(draft: Draft) -> None:
    from html import unescape

    edits: list[Edit] = []
    for match in _ENTITY.finditer(draft.text):
        new = unescape(unescape(match.group()))
        if new.startswith("&#"):  # no character of that number
            continue
        edits.append((match.start(), match.end(), " " if new == "\xa0" else new if new.isprintable() else ""))
    if edits:
        draft.edit(edits)


def _remove_tags(draft: Draft) -> list[Draft]:
    edits: list[Edit] = []
    broken = False
    for match in _TAG.finditer(draft.text):
        broken = broken or match["line"] is not None
        cell = match.group().lower() in ("</td>", "</th>")
        edits.append((match.start(), match.end(), "\n" if match["line"] is not None else " " if cell else ""))
    if edits:
        draft.edit(edits)
    return at_line_ends(draft) if broken else [draft]


def _unfence(draft: Draft) -> None:
    if _FENCE.match(draft.text):
        draft.trim(0)
        return
    if (match := _FENCE_BEFORE.match(draft.text)) is not None:
        draft.drop(match.end())
    if (match := _FENCE_AFTER.search(draft.text, max(len(draft.text) - 40, 0))) is not None:
        draft.trim(match.start())
