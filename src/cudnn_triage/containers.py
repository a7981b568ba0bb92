"""Compressed files and archives, recognised by content: gzip, bzip2, xz, zstd, tar and zip (CI log archives), nested."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator

from .refusing import ReadError, refuse, refuse_binary

TYPE_CHECKING = False
if TYPE_CHECKING:
    import tarfile
    import zipfile
    from typing import IO, Any, Protocol, TypeVar

    T = TypeVar("T")

    class _Decompressor(Protocol):
        @property
        def eof(self) -> bool: ...
        @property
        def unused_data(self) -> bytes: ...
        @property
        def needs_input(self) -> bool: ...
        def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


MOST_BYTES = 2 << 30
"""What an input may expand to in all."""

_FREE_BYTES = 256 << 20  # below this no ratio is suspicious
_MOST_RATIO = 2000
MOST_DEPTH = 4
"""Archives and compressed files within one another."""

_MOST_MEMBERS = 20_000
_CHUNK = 1 << 20
_HEAD = 1 << 17  # bytes by which it is told what a file is
_PIECE = 1 << 16  # compressed bytes given at once: what is not used up is copied each time
_SIGN = 16  # bytes that tell what a compressed file is
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")


class TooLarge(ReadError):
    """Input that expands to more than anybody can want to read."""


class Damaged(ReadError):
    """A member of an archive that cannot be read."""


class Budget:
    """How many bytes one input may still expand to, and what of it could not be read."""

    def __init__(self, name: str, size: int = 0, notes: list[str] | None = None) -> None:
        self.notes = [] if notes is None else notes
        self._name = name
        self._size = size  # of the input, as far as it is known
        self._used = 0

    def note(self, told: str) -> None:
        """Say that something could not be read."""
        if told not in self.notes:
            self.notes.append(told)

    def took(self, count: int) -> None:
        """Note that so many bytes more of the input have been read."""
        self._size += count

    def spend(self, count: int) -> None:
        """Note that the input has expanded to so many bytes more. Raises TooLarge when they are too many."""
        self._used += count
        if self._used > MOST_BYTES:
            raise TooLarge(
                f"{self._name}: expands to more than {MOST_BYTES >> 30} GiB; unpack it and give the part with the error"
            )
        if self._used > max(_FREE_BYTES, _MOST_RATIO * self._size):
            raise TooLarge(
                f"{self._name}: {self._size} bytes expand to more than {self._used >> 20} MiB, which looks like a "
                "decompression bomb; unpack it yourself if you trust it"
            )


def unpack(data: bytes, name: str, notes: list[str]) -> list[tuple[str, bytes]]:
    """(name, bytes) of every file in ``data``; plain data is its own only file. Raises ReadError.

    Adds to ``notes`` what could not be read of it.
    """

    def whole(name: str, chunks: Iterator[bytes]) -> list[tuple[str, bytes]]:
        return [(name, b"".join(chunks))]

    def held(chunks: Iterator[bytes], name: str) -> IO[bytes]:
        return io.BytesIO(b"".join(chunks))

    return each(iter((data,)), name, Budget(name, len(data), notes), whole, held)


def each(
    chunks: Iterator[bytes],
    name: str,
    budget: Budget,
    take: Callable[[str, Iterator[bytes]], list[T]],
    held: Callable[[Iterator[bytes], str], IO[bytes]],
) -> list[T]:
    """What ``take`` makes of each file in the input: compressed data as it comes, archives file by file, however nested.

    ``held`` makes a file of an archive's bytes. A member that is no text or cannot be read is left out: the others count.
    Raises ReadError.
    """
    found = _each(chunks, name, budget, take, held, 0)
    if not found:
        raise ReadError(f"{name}: the archive holds no text file; give the log itself")
    return found


def _each(
    chunks: Iterator[bytes],
    name: str,
    budget: Budget,
    take: Callable[[str, Iterator[bytes]], list[T]],
    held: Callable[[Iterator[bytes], str], IO[bytes]],
    depth: int,
) -> list[T]:
    if depth > MOST_DEPTH:
        raise ReadError(f"{name}: archives are nested more than {MOST_DEPTH} deep; unpack the log first")
    head, _ = begin(chunks, _HEAD)
    whole = again(head, chunks)
    if not _packed(head, name):
        return take(name, whole)
    inner = expanded(whole, head, name, budget)
    if inner is not None:
        return _each(inner, name, budget, take, held, depth + 1)
    out: list[T] = []
    with held(whole, name) as file:
        for member, pieces in _members(file, head, name, budget):
            try:
                out += _each(pieces, member, budget, take, held, depth + 1)
            except TooLarge:
                raise
            except ReadError:  # an image or a broken file beside the logs
                if depth >= MOST_DEPTH:
                    raise
    return out


def begin(chunks: Iterator[bytes], most: int) -> tuple[bytes, bool]:
    """The first bytes, more than ``most`` if there are so many, and whether there are."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > most:
            return b"".join(parts), True
    return b"".join(parts), False


def again(head: bytes, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The first bytes, then the others."""
    yield head
    yield from chunks


class _Gzip:
    """zlib's decompressor with the interface of the others."""

    def __init__(self) -> None:
        import zlib

        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(max_length, 0))


def _decompressor(data: bytes, name: str) -> type[_Gzip] | Any | None:
    """The class that decompresses ``data``, or None where it is not compressed."""
    if data.startswith(b"\x1f\x8b\x08"):
        return _Gzip
    if data[:3] == b"BZh" and data[3:4].isdigit() and data[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        import bz2

        return bz2.BZ2Decompressor
    if data.startswith(b"\xfd7zXZ\x00"):
        import lzma

        return lzma.LZMADecompressor
    if data.startswith(b"\x28\xb5\x2f\xfd") or (data[1:4] == b"\x2a\x4d\x18" and data[0] >> 4 == 5):
        return _zstd(name)
    return None


def _zstd(name: str) -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]  # Python 3.14
    except ImportError:
        try:
            from backports import zstd  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            raise ReadError(
                f"{name}: is zstd-compressed, which this Python cannot read; run 'python -m pip install backports.zstd', "
                "or decompress it first: zstd -d FILE"
            ) from None
    return zstd.ZstdDecompressor


class _Feed:
    """Bytes that come in chunks, taken in small pieces, of which the rest can be given back."""

    def __init__(self, chunks: Iterator[bytes], budget: Budget) -> None:
        self._chunks, self._budget = chunks, budget
        self._held = b""

    def take(self) -> bytes:
        """The next bytes; none at the end."""
        while not self._held and (chunk := next(self._chunks, None)) is not None:
            self._budget.took(len(chunk))
            self._held = chunk
        piece, self._held = self._held[:_PIECE], self._held[_PIECE:]
        return piece

    def back(self, data: bytes) -> None:
        """Give bytes back that were taken last."""
        self._held = data + self._held

    def ahead(self) -> bytes:
        """What comes next, zeros aside, as far as it is needed to tell what it is; none at the end."""
        while piece := self.take():
            rest = piece.lstrip(b"\0")
            if rest:
                self.back(rest if len(rest) >= _SIGN else rest + self.take())
                return self._held[:_SIGN]
        return b""


def _expand(chunks: Iterator[bytes], name: str, decompressor: Any, budget: Budget) -> Iterator[bytes]:
    """Everything that can be decompressed: a file cut short still gives its beginning."""
    import lzma
    import zlib

    feed = _Feed(chunks, budget)
    some = False
    error: Exception | None = None
    while True:
        stream: _Decompressor = decompressor()
        try:
            while not stream.eof:
                piece = feed.take() if stream.needs_input else b""
                chunk = stream.decompress(piece, _CHUNK)
                if not chunk and not piece:
                    break  # cut short
                budget.spend(len(chunk))
                some = some or bool(chunk)
                yield chunk
        except (zlib.error, OSError, EOFError, lzma.LZMAError, ValueError) as problem:
            error = problem
        except Exception as problem:
            if type(problem).__name__ != "ZstdError":
                raise
            error = problem
        if error or not stream.eof:
            if some:
                budget.note("the compressed file is damaged or cut short, and only its beginning could be read")
            break
        feed.back(stream.unused_data)
        following = feed.ahead()
        if not following or _decompressor(following, name) is not decompressor:
            break
    if not some:
        reason = f" ({error})" if error else " or cut short"
        raise ReadError(f"{name}: the compressed file is damaged{reason}; fetch it again or give the log as text")


def expanded(chunks: Iterator[bytes], head: bytes, name: str, budget: Budget) -> Iterator[bytes] | None:
    """What compressed data that begins with ``head`` holds, chunk by chunk; None where it is not compressed. Reading the chunks
    may raise ReadError."""
    decompressor = _decompressor(head, name)
    return None if decompressor is None else _expand(chunks, name, decompressor, budget)


def _members(file: IO[bytes], head: bytes, name: str, budget: Budget) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The files of an archive that begins with ``head``, in natural order, each in chunks, to be read before the next one.

    Raises ReadError; reading the chunks raises Damaged where only this file cannot be read.
    """
    return _zip_members(file, name, budget) if head.startswith(_ZIP) else _tar_members(file, name, budget)


def _packed(head: bytes, name: str) -> bool:
    """Whether data that begins like this is compressed or an archive. Raises ReadError for an image and whatever else is no text."""
    refuse(head, name)
    if _decompressor(head, name) is not None or is_archive(head):
        return True
    refuse_binary(head, name)
    return False


def is_archive(data: bytes) -> bool:
    """Whether data that begins like this is an archive."""
    return data.startswith(_ZIP) or data[257:262] == b"ustar"


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"(\d{1,18})", name)
        if part
    ]


def _zip_members(file: IO[bytes], name: str, budget: Budget) -> Iterator[tuple[str, Iterator[bytes]]]:
    import zipfile

    try:
        archive = zipfile.ZipFile(file)
        infos = [info for info in archive.infolist() if not info.filename.endswith("/")]  # no folders
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError, UnicodeError) as error:
        raise ReadError(f"{name}: the zip archive is damaged ({error}); download it again") from error
    if any(info.filename == "[Content_Types].xml" for info in infos):
        raise ReadError(f"{name}: this is an Office document, not a log; copy the text of the log out of it")
    if len(infos) > _MOST_MEMBERS:
        raise ReadError(f"{name}: the zip archive holds more than {_MOST_MEMBERS} files; give the log itself")
    # GitHub's archive holds each job whole ('0_build.txt') and once more by steps ('build/1_Set up job.txt')
    whole = {match[1] for info in infos if (match := re.fullmatch(r"-?\d+_(.+)\.txt", info.filename))}
    locked = ""
    for info in sorted(infos, key=lambda info: _natural(info.filename)):
        folder, _, plain = info.filename.rpartition("/")
        if folder in whole and re.fullmatch(r"(?:\d+_.+|system)\.txt", plain):
            continue
        if info.flag_bits & 1:
            locked = info.filename
            continue
        yield f"{name}:{info.filename}", _zip_chunks(archive, info, budget)
    if locked and all(info.flag_bits & 1 for info in infos):
        raise ReadError(f"{name}: the zip archive is encrypted; unpack it first")


def _zip_chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: Budget) -> Iterator[bytes]:
    import lzma
    import zipfile
    import zlib

    try:
        with archive.open(info) as stream:
            yield from _limited(stream, budget)
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        EOFError,
        lzma.LZMAError,
        ValueError,
        NotImplementedError,
        RuntimeError,
    ) as error:
        budget.note(f"{info.filename} in the archive is damaged and was left out")
        raise Damaged(f"{info.filename}: {error}") from error


def _tar_members(file: IO[bytes], name: str, budget: Budget) -> Iterator[tuple[str, Iterator[bytes]]]:
    import tarfile

    found: list[tarfile.TarInfo] = []
    try:
        archive = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 - read until the last member is
        for count, info in enumerate(archive):
            if count > _MOST_MEMBERS:
                raise ReadError(f"{name}: the tar archive holds more than {_MOST_MEMBERS} files; give the log itself")
            if info.isreg():
                found.append(info)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        if not found:
            raise ReadError(f"{name}: the tar archive is damaged ({error}); fetch it again") from error
        budget.note("the tar archive is damaged or cut short, and only its beginning could be read")
    for info in sorted(found, key=lambda info: _natural(info.name)):
        yield f"{name}:{info.name}", _tar_chunks(archive, info, budget)


def _tar_chunks(archive: tarfile.TarFile, info: tarfile.TarInfo, budget: Budget) -> Iterator[bytes]:
    import tarfile

    try:
        stream = archive.extractfile(info)
        if stream is not None:
            yield from _limited(stream, budget)
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        budget.note(f"{info.name} in the archive is damaged and was left out")
        raise Damaged(f"{info.name}: {error}") from error


def _limited(stream: IO[bytes], budget: Budget) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        budget.spend(len(chunk))
        yield chunk
