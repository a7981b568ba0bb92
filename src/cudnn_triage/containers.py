"""Compressed files and archives, recognised by content: gzip, bzip2, xz, zstd, tar and zip (CI log archives), nested."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from .encodings import is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

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
_MOST_DEPTH = 4
_MOST_MEMBERS = 20_000
_CHUNK = 1 << 20
_PIECE = 1 << 16  # compressed bytes given at once: what is not used up is copied each time
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")

_PRINTED = "give the text that the program printed"
_NO_LOG = (  # where a sign of it stands, the sign, what it is, what to do
    (0, b"\x89PNG\r\n", "a PNG image", "paste the text of the log instead of a screenshot"),
    (0, b"\xff\xd8\xff", "a JPEG image", "paste the text of the log instead of a screenshot"),
    (0, b"GIF8", "a GIF image", "paste the text of the log instead of a screenshot"),
    (0, b"%PDF-", "a PDF document", "copy the text of the log out of it"),
    (0, b"\x7fELF", "a program or library", "give the log that it prints"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first: 7z x FILE"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unpack it first: unrar x FILE"),
    (0, b"\x04\x22\x4d\x18", "lz4-compressed", "decompress it first: lz4 -d FILE"),
    (0, b"\x1f\x9d", "compressed with the old 'compress'", "decompress it first: uncompress FILE"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document", "copy the text of the log out of it"),
    (0, b"LPKSHHRH", "a systemd journal", "print it: journalctl --file FILE"),
    (0, b"ElfFile\x00", "a Windows event log", "print it: wevtutil qe FILE /lf:true /f:text"),
    (0, b"\x93NUMPY", "a NumPy array", _PRINTED),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", _PRINTED),
    (0, b"SQLite format 3\x00", "an SQLite database", _PRINTED),
    *((0, b"\x80" + bytes([protocol]), "a Python pickle", _PRINTED) for protocol in range(2, 6)),
    (4, b'\x00\x00\x00\x00{"', "model weights (safetensors)", _PRINTED),
    (23, b"brain.Event", "a TensorBoard event file", _PRINTED),
)
_SEEMS = (  # the same for signs that a text might begin with: looked for in what is no text
    (0, b"MZ", "a Windows program or library"),
    (0, b"PAR1", "a Parquet file"),
    (0, b"GGUF", "a model in the GGUF format"),
    (0, b"BM", "a bitmap image"),
    (0, b"II*\x00", "a TIFF image"),
    (8, b"WEBP", "a WebP image"),
    (4, b"ftyp", "a video or HEIC image"),
)
_CORE = b"\x04\x00"  # type of an ELF file that is a core dump


class ReadError(Exception):
    """Input from which no text can be read. The message says what, where and what to do."""


class _Budget:
    """How many bytes one input may still expand to, and what of it could not be read."""

    def __init__(self, name: str, size: int, notes: list[str]) -> None:
        self.notes = notes
        self._name = name
        self._size = size
        self._used = 0

    def note(self, told: str) -> None:
        """Say that something could not be read."""
        if told not in self.notes:
            self.notes.append(told)

    def spend(self, count: int) -> None:
        self._used += count
        if self._used > MOST_BYTES:
            raise ReadError(
                f"{self._name}: expands to more than {MOST_BYTES >> 30} GiB; unpack it and give the part with the error"
            )
        if self._used > max(_FREE_BYTES, _MOST_RATIO * self._size):
            raise ReadError(
                f"{self._name}: {self._size} bytes expand to more than {self._used >> 20} MiB, which looks like a "
                "decompression bomb; unpack it yourself if you trust it"
            )


def unpack(data: bytes, name: str, notes: list[str]) -> list[tuple[str, bytes]]:
    """(name, bytes) of every file in ``data``; plain data is its own only file. Raises ReadError.

    Adds to ``notes`` what could not be read of it.
    """
    members = list(_unpack(data, name, _Budget(name, len(data), notes), 0))
    if not members:
        raise ReadError(f"{name}: the archive holds no text file; give the log itself")
    return members


def _unpack(data: bytes, name: str, budget: _Budget, depth: int) -> Iterator[tuple[str, bytes]]:
    if depth > _MOST_DEPTH:
        raise ReadError(f"{name}: archives are nested more than {_MOST_DEPTH} deep; unpack the log first")
    _refuse(data, name)
    if (decompressor := _decompressor(data, name)) is not None:
        yield from _unpack(b"".join(_expand(data, name, decompressor, budget)), name, budget, depth + 1)
    elif data.startswith(_ZIP):
        yield from _nested(_zip_members(data, name, budget), budget, depth)
    elif data[257:262] == b"ustar":
        yield from _nested(_tar_members(data, name, budget), budget, depth)
    else:
        _refuse_binary(data, name)
        yield name, data


def _nested(members: Iterator[tuple[str, bytes]], budget: _Budget, depth: int) -> Iterator[tuple[str, bytes]]:
    for name, data in members:
        try:
            inner = list(_unpack(data, name, budget, depth + 1))
        except ReadError:
            if depth >= _MOST_DEPTH:
                raise
            continue  # an image or a broken file beside the logs
        yield from inner


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


def _expand(data: bytes, name: str, decompressor: Any, budget: _Budget) -> Iterator[bytes]:
    """Everything that can be decompressed: a file cut short still gives its beginning."""
    import lzma
    import zlib

    at, some = 0, False
    error: Exception | None = None
    while at < len(data):
        stream: _Decompressor = decompressor()
        try:
            while not stream.eof:
                piece = data[at : at + _PIECE] if stream.needs_input else b""
                at += len(piece)
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
        at -= len(stream.unused_data)
        while data[at : at + 1] == b"\x00":
            at += 1
        if _decompressor(data[at : at + 16], name) is not decompressor:
            break
    if not some:
        reason = f" ({error})" if error else " or cut short"
        raise ReadError(f"{name}: the compressed file is damaged{reason}; fetch it again or give the log as text")


def expanded(data: bytes, name: str, notes: list[str]) -> Iterator[bytes] | None:
    """What compressed ``data`` holds, chunk by chunk; None where it is not compressed. Reading the chunks may raise ReadError,
    and adds to ``notes`` what could not be read."""
    decompressor = _decompressor(data, name)
    return None if decompressor is None else _expand(data, name, decompressor, _Budget(name, len(data), notes))


def packed(head: bytes, name: str) -> bool:
    """Whether data that begins like this is compressed or an archive. Raises ReadError for an image and whatever else is no text."""
    _refuse(head, name)
    if _decompressor(head, name) is not None or _is_archive(head):
        return True
    _refuse_binary(head, name)
    return False


def _refuse(data: bytes, name: str) -> None:
    """Raise ReadError for what is known to hold no log, by its first bytes."""
    if data.startswith(b"\x7fELF") and data[16:18] in (_CORE, _CORE[::-1]):
        raise ReadError(f"{name}: this is a core dump, not a log; give what the program printed before it crashed")
    for at, sign, what, advice in _NO_LOG:
        if data.startswith(sign, at):
            raise ReadError(f"{name}: this is {what}, not a log; {advice}")


def _refuse_binary(data: bytes, name: str) -> None:
    """Raise ReadError for what is no text, whatever it is."""
    if is_text(data):
        return
    seems = next((what for at, sign, what in _SEEMS if data.startswith(sign, at)), "")
    if not data.strip(b"\x00"):
        raise ReadError(
            f"{name}: this holds only zero bytes, as a file does whose writing was cut off; give another copy"
        )
    raise ReadError(
        f"{name}: this is not text{f': it seems to be {seems}' if seems else ' but binary data'}; {_PRINTED}, or, where "
        "a log is hidden in it: strings FILE | cudnn-triage"
    )


def _is_archive(data: bytes) -> bool:
    return data.startswith(_ZIP) or data[257:262] == b"ustar"


def _natural(name: str) -> list[tuple[int, int, str]]:
    return [
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part)
        for part in re.split(r"(\d{1,18})", name)
        if part
    ]


def _zip_members(data: bytes, name: str, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    import lzma
    import zipfile
    import zlib

    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        infos = [info for info in archive.infolist() if not info.is_dir()]
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
        folder, _, file = info.filename.rpartition("/")
        if folder in whole and re.fullmatch(r"(?:\d+_.+|system)\.txt", file):
            continue
        if info.flag_bits & 1:
            locked = info.filename
            continue
        try:
            with archive.open(info) as stream:
                raw = _limited(stream, budget)
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            EOFError,
            lzma.LZMAError,
            ValueError,
            NotImplementedError,
            RuntimeError,
        ):
            budget.note(f"{info.filename} in the archive is damaged and was left out")
            continue
        yield f"{name}:{info.filename}", raw
    if locked and all(info.flag_bits & 1 for info in infos):
        raise ReadError(f"{name}: the zip archive is encrypted; unpack it first")


def _tar_members(data: bytes, name: str, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    import tarfile

    found: list[tuple[str, bytes]] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for count, info in enumerate(archive):
                if count > _MOST_MEMBERS:
                    raise ReadError(
                        f"{name}: the tar archive holds more than {_MOST_MEMBERS} files; give the log itself"
                    )
                stream = archive.extractfile(info) if info.isreg() else None
                if stream is not None:
                    found.append((info.name, _limited(stream, budget)))
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        if not found:
            raise ReadError(f"{name}: the tar archive is damaged ({error}); fetch it again") from error
        budget.note("the tar archive is damaged or cut short, and only its beginning could be read")
    for member, raw in sorted(found, key=lambda item: _natural(item[0])):
        yield f"{name}:{member}", raw


def _limited(stream: Any, budget: _Budget) -> bytes:
    out: list[bytes] = []
    while chunk := stream.read(_CHUNK):
        budget.spend(len(chunk))
        out.append(chunk)
    return b"".join(out)
