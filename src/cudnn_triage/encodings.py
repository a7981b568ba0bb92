"""From bytes to text: which encoding a log is in, and decoding that never fails."""

from __future__ import annotations

import codecs
import re

from .light import pattern

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 1 << 16
_GUESS_SAMPLE = 1 << 15
_AROUND = 2000  # bytes of a line, before and behind its first byte that is no ASCII, by which its code page is told
_FROM_NON_ASCII = pattern(rb"[\x80-\xff][^\n]{0,%d}" % _AROUND)
_LEGACY = (
    "gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1252", "cp1251", "cp1250", "cp1253", "cp1254", "cp850", "cp866",
    "koi8_r",
)  # fmt: skip


def decode(raw: bytes) -> tuple[str, str, int]:
    """Text, name of the encoding and length of the byte-order mark of a log.

    Bytes that are no UTF-8 inside text that otherwise is become lone surrogates (``surrogateescape``), so that every
    character still has its bytes; :func:`cudnn_triage.cleaning.clean` replaces them.
    """
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            body = raw[len(mark) :]
            errors = "surrogateescape" if encoding == "utf-8" else "replace"
            return body.decode(encoding, errors), encoding, len(mark)
    if wide := _wide(raw):
        return raw.decode(wide, "replace"), wide, 0
    try:
        return raw.decode("utf-8"), "utf-8", 0
    except UnicodeDecodeError:
        pass
    text = raw.decode("utf-8", "surrogateescape")
    if not _mostly_utf8(text) and (legacy := _legacy(raw)):
        # line by line, so that a broken character cannot swallow a line end and raw lines stay what they are
        return "\n".join(line.decode(legacy, "replace") for line in raw.split(b"\n")), legacy, 0
    return text, "utf-8", 0


def wide(head: bytes) -> tuple[str, int]:
    """The encoding, UTF-16 or UTF-32, of a log that begins like this, and the length of its byte-order mark; "" for any other."""
    for mark, encoding in _BOMS[1:]:
        if head.startswith(mark):
            return encoding, len(mark)
    return _wide(head), 0


def _wide(raw: bytes) -> str:
    """UTF-16 without a byte-order mark: every second byte of Western text is zero."""
    sample = raw[:_SAMPLE]
    half = len(sample) // 2
    if half < 2 or not sample.count(0):
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > 0.6 * half and even < 0.1 * half:
        return "utf-16-le"
    if even > 0.6 * half and odd < 0.1 * half:
        return "utf-16-be"
    return ""


_CONTROLS = bytes(code for code in (*range(0x20), 0x7F) if code not in b"\t\n\r\f\b\x1b")
_ZEROS = pattern(rb"\x00{16,}")
_PROSE = pattern(rb"[\x20-\x7e]{16,}")
_TELLING = 32  # bytes by which it can be told
_MOST_CONTROLS = 0.08  # of bytes that no text holds; random bytes have 0.1
_LEAST_PROSE = 0.01  # of bytes in readable stretches, from which on there is something to read


def is_text(data: bytes) -> bool:
    """Whether there is anything to read in ``data``, judged by its beginning and its end. A log may hold bytes that are
    none of its own, and runs of zeros where a file was cut off while it was written."""
    if len(data) < _TELLING:
        return True
    sample = data if len(data) <= _SAMPLE else data[: _SAMPLE // 2] + data[-_SAMPLE // 2 :]
    odd = len(sample) - len(sample.translate(None, _CONTROLS))
    if not odd or wide(data[:_SAMPLE])[0]:
        return True
    whole = _ZEROS.sub(b"", sample)
    odd = len(whole) - len(whole.translate(None, _CONTROLS))
    if odd <= _MOST_CONTROLS * len(whole):
        return bool(whole)
    return sum(map(len, _PROSE.findall(whole))) > _LEAST_PROSE * len(whole)


def _mostly_utf8(text: str) -> bool:
    broken = len(re.findall("[\udc80-\udcff]", text))
    whole = len(re.findall("[^\x00-\x7f\udc80-\udcff]", text))
    return broken <= 2 or broken * 5 <= whole


def _legacy(raw: bytes) -> str:
    """The legacy code page that the lines with non-ASCII bytes are most likely in, or ''."""
    lines: list[bytes] = []
    size = told = 0
    for match in _FROM_NON_ASCII.finditer(raw):
        first = max(match.start() - _AROUND, told)
        first = max(raw.rfind(b"\n", first, match.start()) + 1, first)
        told = match.end()
        lines.append(raw[first:told])
        size += len(lines[-1])
        if size > _GUESS_SAMPLE:
            break
    try:
        from charset_normalizer import from_bytes
    except ImportError:  # it is only a guess: unknown bytes become replacement characters instead
        return ""
    best = from_bytes(b"\n".join(lines)[:_GUESS_SAMPLE], cp_isolation=list(_LEGACY)).best()
    return best.encoding if best is not None else ""
