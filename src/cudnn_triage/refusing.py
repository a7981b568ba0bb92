"""What holds no log, told by its first bytes: images, documents, programs, model weights, whatever else is no text."""

from __future__ import annotations

from .encodings import is_text

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


def refuse(data: bytes, name: str) -> None:
    """Raise ReadError for what is known to hold no log, by its first bytes."""
    if data.startswith(b"\x7fELF") and data[16:18] in (_CORE, _CORE[::-1]):
        raise ReadError(f"{name}: this is a core dump, not a log; give what the program printed before it crashed")
    for at, sign, what, advice in _NO_LOG:
        if data.startswith(sign, at):
            raise ReadError(f"{name}: this is {what}, not a log; {advice}")


def refuse_binary(data: bytes, name: str) -> None:
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
