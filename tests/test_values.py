"""Typed values: every notation that logs use, and comparison by value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudnn_triage.values import Soname, attribute, compare, read, show

KINDS = [
    "version",
    "vtuple",
    "cudnnint",
    "cudaint",
    "ncclint",
    "int",
    "float",
    "size",
    "bytes",
    "cc",
    "archs",
    "soname",
    "script",
    "image",
    "hex",
    "path",
    "word",
    "gpu",
    "any",
    "rest",
]


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [
        ("version", "v8.9.2", "8.9.2"),
        ("version", "2.1.0+cu118", "2.1.0+cu118"),
        ("vtuple", "(9, 8, 0)", "9.8.0"),
        ("cudnnint", "8902", "8.9.2"),
        ("script", "tools\\train.py", "tools/train.py"),
        ("script", "/home/u/my project/run_2.py", "run_2.py"),
        ("image", "nvcr.io/nvidia/pytorch:24.05-py3", "nvcr.io/nvidia/pytorch:24.05-py3"),
        ("image", "localhost:5000/a/b_c", "localhost:5000/a/b_c"),
        ("image", "ubuntu.", "ubuntu"),
        ("cudnnint", "90100", "9.1.0"),
        ("cudnnint", "7605", "7.6.5"),
        ("cudaint", "11070", "11.7"),
        ("cudaint", "12020", "12.2"),
        ("ncclint", "21805", "2.18.5"),
        ("ncclint", "2708", "2.7.8"),
        ("cc", "sm_86", "8.6"),
        ("cc", "compute_90a", "9.0"),
        ("cc", "(8, 6)", "8.6"),
        ("cc", "120", "12.0"),
        ("cc", "860", "8.6"),
        ("cc", "7.5", "7.5"),
        ("archs", "sm_50 sm_60 compute_90", "5.0 6.0 9.0"),
        ("archs", "3.5;5.2;8.0+PTX", "3.5 5.2 8.0"),
        ("size", "20.00 MiB", str(20 << 20)),
        ("size", "512M", str(512 << 20)),
        ("size", "1.5GB", str(3 << 29)),
        ("size", "1024 bytes", "1024"),
        ("bytes", "4294967296", "4294967296"),
    ],
)
def test_notations(kind: str, text: str, shown: str) -> None:
    value = read(kind, text)
    assert value is not None
    assert show(value) == shown


@pytest.mark.parametrize("text", ["$(reboot)", "a;b", "x/Y", "-v", "a b", "a:b:c", ""])
def test_what_is_no_image(text: str) -> None:
    assert read("image", text) is None


@pytest.mark.parametrize(
    ("text", "stem", "version", "folder"),
    [
        ("libcudnn.so.8", "cudnn", "8", ""),
        ("/opt/x/libcudnn_ops.so.9.1.0", "cudnn_ops", "9.1.0", "/opt/x"),
        ("cudnn64_8.dll", "cudnn", "8", ""),
        ("cudnn_ops64_9.dll", "cudnn_ops", "9", ""),
        ("cudart64_110.dll", "cudart", "11.0", ""),
        (r"C:\Windows\System32\nvcuda.dll", "nvcuda", None, r"C:\Windows\System32"),
        ("libcudnn.5.dylib", "cudnn", "5", ""),
        ("libcuda.so", "cuda", None, ""),
        ("zlibwapi.dll", "zlibwapi", None, ""),
    ],
)
def test_library_names(text: str, stem: str, version: str | None, folder: str) -> None:
    value = read("soname", text)
    assert isinstance(value, Soname)
    assert (value.stem, value.dir) == (stem, folder)
    assert (str(value.version) if value.version else None) == version


def test_versions_compare_at_the_precision_that_both_have() -> None:
    nine, nine_one, eight = (read("version", t) for t in ("9", "9.1.0", "8.9.7"))
    assert compare(nine, nine_one) == 0
    assert compare(eight, nine) == -1
    assert compare(nine_one, eight) == 1
    assert compare(nine_one, "9.8.0") == -1
    assert compare(read("version", "20240131103000"), nine) == 1
    assert read("version", "9" * 30) is None


def test_attributes() -> None:
    version = read("version", "8.9.7")
    assert show(attribute(version, "major")) == "8"
    assert show(attribute(version, "minor")) == "8.9"
    assert attribute(read("version", "9"), "minor") is None


@given(st.sampled_from(KINDS), st.text(max_size=200))
def test_reading_never_raises(kind: str, text: str) -> None:
    value = read(kind, text)
    if value is not None:
        show(value)


@given(
    st.sampled_from(["version", "int", "size", "cc", "soname", "word"]),
    st.text("0123456789.+-abcMGiB_", max_size=30),
    st.text("0123456789.+v", max_size=30),
)
def test_comparison_is_antisymmetric(kind: str, left: str, right: str) -> None:
    a, b = read(kind, left), read(kind, right)
    if a is not None and b is not None:
        forward, backward = compare(a, b), compare(b, a)
        assert (forward is None) == (backward is None)
        assert forward is None or forward == -backward
