"""From bytes of any kind (plain, compressed, archived, JSON, notebook, any encoding) to the logs they hold."""

from __future__ import annotations

import os

from .containers import unpack
from .encodings import decode
from .light import record, replaced
from .records import Pieces, extract, is_lines
from .refusing import ReadError

__all__ = ["Log", "ReadError", "read", "read_path", "read_text"]


@record(frozen=True, slots=True)
class Cut:
    """A place of a log's text in front of which something was left out: what stands there, and where it stood."""

    row: int  # 0-based line of what is left
    line: int  # and of the log
    at: int  # byte of what is left
    byte: int  # and of the log
    column: int = 0  # bytes of that line that were left out


@record(frozen=True, slots=True)
class Log:
    """One log: its bytes after decompression, which line numbers and byte offsets refer to, and its text.

    ``text`` may hold lone surrogates for bytes that are no UTF-8; clean lines do not. Without ``pieces``, text and raw
    bytes are the same, decoded. Else text was taken out of JSON, and ``pieces`` say where each stretch of it stands.
    Of a long log only some stretches are left (see selection.py): ``raw`` and ``text`` are these, ``cuts`` say where they stood.
    """

    name: str
    raw: bytes
    text: str
    encoding: str
    bom: int = 0  # bytes before the text: the byte-order mark
    pieces: Pieces | None = None
    document: bool = False  # one JSON document, of which no part can be read for itself
    cuts: tuple[Cut, ...] = ()
    size: int = -1  # bytes, and
    rows: int = -1  # lines of all, where something was left out
    repeats: dict[str, int] | None = None  # how often the literals of each rule stand in all
    coded: str = ""  # the encoding of the input, where the bytes here are no more in it
    note: str = ""  # what of the input could not be read, and is not here


def read(data: bytes, name: str = "<stdin>") -> list[Log]:
    """The logs in ``data``, whatever it is: usually one, for an archive one for each text file in it.

    Raises ReadError where no text can be had: damaged or oversized archives, images, a missing decompressor, a notebook
    without outputs.
    """
    notes: list[str] = []
    members = unpack(data, name, notes)
    logs: list[Log] = []
    for member, raw in members:
        try:
            logs.append(noted(cut_log(member, raw), notes))
        except ReadError:  # in an archive, the other files count
            if member == members[-1][0] and not logs:
                raise
    return logs


def read_path(path: str | os.PathLike[str]) -> list[Log]:
    """The logs in a file. Raises ReadError, also where the file cannot be opened."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error
    return read(data, str(path))


def cannot_read(path: str | os.PathLike[str], error: OSError | ValueError) -> ReadError:
    """What is wrong with a file that cannot be opened or read."""
    if isinstance(error, IsADirectoryError):
        return ReadError(f"{path}: is a directory; name the log files in it: {path}/*.log")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ReadError(f"{path}: cannot be read: {reason}")


def read_text(text: str, name: str = "<text>") -> Log:
    """The log in a text that was decoded elsewhere; JSON lines and notebooks in it are recognised. Raises nothing."""
    return cut_log(name, text.encode("utf-8", "replace"))


def cut_log(
    name: str,
    raw: bytes,
    cuts: tuple[Cut, ...] = (),
    size: int = -1,
    rows: int = -1,
    repeats: dict[str, int] | None = None,
    coded: str = "",
) -> Log:
    """The log whose bytes, as far as they are read, are ``raw``."""
    text, encoding, bom = decode(raw)
    found = extract(text, encoding, bom, name)
    inner, pieces = found or (text, None)
    document = pieces is not None and text[:4096].lstrip()[:1] in ("{", "[") and not is_lines(text)
    return Log(name, raw, inner, encoding, bom, pieces, document, cuts, size, rows, repeats, coded)


def noted(log: Log, notes: list[str]) -> Log:
    """The log, with what could not be read of its input."""
    if not notes:
        return log
    return replaced(log, note="; ".join(dict.fromkeys(filter(None, (log.note, *notes)))))
