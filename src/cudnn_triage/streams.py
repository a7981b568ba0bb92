"""From a stream of bytes to the logs to read: text goes through the selector as it comes, the rest is unpacked first."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator

from .containers import expanded, packed
from .encodings import decode, wide
from .knowledge.base import Knowledge
from .reading import Log, ReadError, noted, read
from .records import is_lines
from .selection import WHOLE, Selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Source(Protocol):
        """Anything bytes are read from."""

        def read(self, size: int, /) -> bytes | None:
            """At most ``size`` bytes; none at the end."""


CHUNK = 1 << 20
_MOST_DOCUMENT = 64 << 20  # bytes of one JSON document; a longer one is read as text

Seen = Callable[[int], None]
"""Told how many bytes have been read so far."""


def read_stream(source: Source, name: str, knowledge: Knowledge, seen: Seen | None = None) -> list[Log]:
    """The logs in a stream, however long it is. Raises ReadError."""
    return logs(_chunks(source, seen), name, knowledge)


def read_file(path: str, knowledge: Knowledge, seen: Seen | None = None) -> list[Log]:
    """The logs in a file. Raises ReadError, also where the file cannot be opened."""
    try:
        with open(path, "rb", buffering=0) as file:
            return read_stream(file, path, knowledge, seen)
    except IsADirectoryError:
        raise ReadError(f"{path}: is a directory; name the log files in it") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ReadError(f"{path}: cannot be read: {reason}") from error


def logs(chunks: Iterator[bytes], name: str, knowledge: Knowledge) -> list[Log]:
    """The logs in these bytes. Raises ReadError."""
    head, more = _begin(chunks, WHOLE)
    if not more:
        return read(head, name)
    notes: list[str] = []
    if packed(head, name):
        data = b"".join([head, *chunks])
        inner = expanded(data, name, notes)
        if inner is None:
            return read(data, name)
        start, more = _begin(inner, WHOLE)
        if not more or packed(start, name):
            return read(data, name)
        head, chunks = start, inner
    if _is_document(head):
        head, more = _begin(_again(head, chunks), _MOST_DOCUMENT)
        if not more:
            return read(head, name)
    encoding, mark = wide(head)
    selector = Selector(knowledge, name, encoding)
    for chunk in _recoded(_again(head[mark:], chunks), encoding) if encoding else _again(head, chunks):
        selector.feed(chunk)
    return [noted(selector.finish(), notes)]


def _chunks(source: Source, seen: Seen | None) -> Iterator[bytes]:
    count = 0
    while chunk := source.read(CHUNK):
        count += len(chunk)
        if seen:
            seen(count)
        yield chunk


def _again(head: bytes, chunks: Iterable[bytes]) -> Iterator[bytes]:
    yield head
    yield from chunks


def _begin(chunks: Iterator[bytes], most: int) -> tuple[bytes, bool]:
    """The first bytes, more than ``most`` if there are so many, and whether there are."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > most:
            return b"".join(parts), True
    return b"".join(parts), False


def _is_document(head: bytes) -> bool:
    """Whether a log that begins like this is one JSON document, such as a notebook, rather than a record on each line."""
    text = decode(head[:WHOLE])[0]
    begin = "".join(text[:4096].split())[:2]
    return begin in ('{"', "[{") and not is_lines(text[: text.rfind("\n") + 1])


def _recoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
