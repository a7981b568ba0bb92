"""From a stream of bytes to the logs to read: text goes through the selector as it comes, the rest is unpacked first."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator

from .containers import Budget, again, begin, each
from .encodings import decode, wide
from .knowledge.base import Knowledge
from .reading import Log, ReadError, cannot_read, noted, read
from .records import is_lines
from .selection import WHOLE, Selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Protocol

    class Source(Protocol):
        """Anything bytes are read from."""

        def read(self, size: int, /) -> bytes | None:
            """At most ``size`` bytes; none at the end."""


CHUNK = 1 << 20
_MOST_HELD = 16 << 20  # bytes of an archive that are kept in memory
_MOST_DOCUMENT = 64 << 20  # bytes of one JSON document that are read as such; a longer one is read as text

Seen = Callable[[int], None]
"""Told how many bytes have been read so far."""


def read_stream(source: Source, name: str, knowledge: Knowledge, seen: Seen | None = None) -> list[Log]:
    """The logs in a stream, however long it is. Raises ReadError."""
    return logs(_chunks(source, name, seen), name, knowledge)


def read_file(path: str, knowledge: Knowledge, seen: Seen | None = None) -> list[Log]:
    """The logs in a file. Raises ReadError, also where the file cannot be opened."""
    try:
        with open(path, "rb", buffering=0) as file:
            return read_stream(file, path, knowledge, seen)
    except (OSError, ValueError) as error:
        raise cannot_read(path, error) from error


def logs(chunks: Iterator[bytes], name: str, knowledge: Knowledge) -> list[Log]:
    """The logs in these bytes. Raises ReadError."""
    budget = Budget(name)

    def taken(name: str, chunks: Iterator[bytes]) -> list[Log]:
        return _text(chunks, name, knowledge)

    def spooled(chunks: Iterator[bytes], name: str) -> IO[bytes]:
        return _spooled(chunks, name, budget)

    return [noted(log, budget.notes) for log in each(chunks, name, budget, taken, spooled)]


def _text(chunks: Iterator[bytes], name: str, knowledge: Knowledge) -> list[Log]:
    """The logs in a text: read whole where it is short or one document, else what the selector keeps of it."""
    head, more = begin(chunks, WHOLE)
    if not more:
        return read(head, name)
    if _is_document(head):
        head, more = begin(again(head, chunks), _MOST_DOCUMENT)
        if not more:
            return read(head, name)
        if b"\n" not in head[:WHOLE]:
            raise ReadError(
                f"{name}: a JSON document of more than {_MOST_DOCUMENT >> 20} MiB on one line, which cannot be read in parts; "
                "give the log that it holds as text, or lay it out in lines: jq . FILE | cudnn-triage"
            )
    encoding, mark = wide(head)
    selector = Selector(knowledge, name, encoding)
    for chunk in _recoded(again(head[mark:], chunks), encoding) if encoding else again(head, chunks):
        selector.feed(chunk)
    return [selector.finish()]


def _spooled(chunks: Iterable[bytes], name: str, budget: Budget) -> IO[bytes]:
    """A file that holds these bytes and can be read in any order; one that is not small lies on the disk."""
    from tempfile import SpooledTemporaryFile

    file = SpooledTemporaryFile(_MOST_HELD)  # noqa: SIM115 - the caller closes it
    try:
        for chunk in chunks:
            budget.took(len(chunk))
            file.write(chunk)
        file.seek(0)
    except OSError as error:
        file.close()
        raise ReadError(f"{name}: no room to unpack the archive ({error.strerror}); unpack it yourself") from error
    return file


def _chunks(source: Source, name: str, seen: Seen | None) -> Iterator[bytes]:
    count = 0
    while chunk := _read(source, name):
        count += len(chunk)
        if seen:
            seen(count)
        yield chunk


def _read(source: Source, name: str) -> bytes | None:
    try:
        return source.read(CHUNK)
    except OSError as error:
        raise cannot_read(name, error) from error


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
