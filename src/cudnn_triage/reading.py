"""From bytes of any kind (plain, compressed, archived, JSON, notebook, any encoding) to the logs they hold."""

from __future__ import annotations

import os

from .containers import ReadError, unpack
from .encodings import decode
from .light import record
from .records import Pieces, extract

__all__ = ["Log", "ReadError", "read", "read_path", "read_text"]


@record(frozen=True, slots=True)
class Log:
    """One log: its bytes after decompression, which line numbers and byte offsets refer to, and its text.

    ``text`` may hold lone surrogates for bytes that are no UTF-8; clean lines do not. Without ``pieces``, text and raw
    bytes are the same, decoded. Else text was taken out of JSON, and ``pieces`` say where each stretch of it stands.
    """

    name: str
    raw: bytes
    text: str
    encoding: str
    bom: int = 0  # bytes before the text: the byte-order mark
    pieces: Pieces | None = None


def read(data: bytes, name: str = "<stdin>") -> list[Log]:
    """The logs in ``data``, whatever it is: usually one, for an archive one for each text file in it.

    Raises ReadError where no text can be had: damaged or oversized archives, images, a missing decompressor, a notebook
    without outputs.
    """
    members = unpack(data, name)
    logs: list[Log] = []
    for member, raw in members:
        try:
            logs.append(_log(member, raw))
        except ReadError:  # in an archive, the other files count
            if member == members[-1][0] and not logs:
                raise
    return logs


def read_path(path: str | os.PathLike[str]) -> list[Log]:
    """The logs in a file. Raises ReadError, also where the file cannot be opened."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except IsADirectoryError:
        raise ReadError(f"{path}: is a directory; name the log files in it") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ReadError(f"{path}: cannot be read: {reason}") from error
    return read(data, str(path))


def read_text(text: str, name: str = "<text>") -> Log:
    """The log in a text that was decoded elsewhere; JSON lines and notebooks in it are recognised. Raises nothing."""
    return _log(name, text.encode("utf-8", "replace"))


def _log(name: str, raw: bytes) -> Log:
    text, encoding, bom = decode(raw)
    if (found := extract(text, encoding, bom, name)) is not None:
        inner, pieces = found
        return Log(name, raw, inner, encoding, bom, pieces)
    return Log(name, raw, text, encoding, bom)
