"""In which releases a message stands: templates held against the strings of compiled files and the text of source files."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

sys.path.append(str(Path(__file__).resolve().parent.parent / "scripts"))

import measure_releases
from measure_releases import Finder, Template, forms, plain


def judged(template: str, text: bytes, *, source: bool = False) -> str:
    rule = Template("area/id", template, forms(template))
    stands, apart = Finder([rule]).find(plain(text, source=source))
    return "stands" if rule in stands else "apart" if rule in apart else "nowhere"


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("Loaded cuDNN version {cudnn.loaded:cudnnint}", b"other\nLoaded cuDNN version \nmore"),
        ("runtime {:int} but compiled with {:int}", b"runtime %d but compiled with %d"),
        (
            "The runtime is {:int} but it was compiled with {:int}",
            b"The runtime is \nzeros\n but it was compiled with \n",
        ),
        ("The runtime is {:int} but it was compiled with {:int}", b" but it was compiled with \nThe runtime is \n"),
        ("RuntimeError: no such handle exists", b"no such handle exists"),
        ("NCCL INFO Connected all rings", b"Connected all rings"),
        ("cuda_dnn.cc:{:int}] handle is missing here", b"handle is missing here"),
        ("Could not load {=cuDNN|cuBLAS} at all", b"Could not load cuBLAS at all"),
        ("Could not load {=cuDNN|cuBLAS} at all here", b"Could not load \n at all here"),
        ("It used 100% of {:size} memory", b"It used 100%% of %s memory"),
        ("kernel {{name}} is missing", b"kernel {name} is missing"),
    ],
)
def test_a_message_stands_where_its_parts_stand_together(template: str, text: bytes) -> None:
    assert judged(template, text) == "stands"


def test_parts_at_both_ends_of_a_file_are_told_apart_from_a_message() -> None:
    template = "The runtime is {:int} but it was compiled with {:int}"
    assert judged(template, b"The runtime is " + b"x" * 5000 + b" but it was compiled with ") == "apart"
    assert judged("Found {:int} at {:int}", b"Found " + b"x" * 5000 + b" at ") == "nowhere"


@pytest.mark.parametrize(
    "text",
    [
        b'raise ValueError("there is no handle "\n    "for this device here")',
        b"raise ValueError('there is no handle ' \\\n    f'for this device here')",
        b'"there is no handle\\n" "for this device here"',
        b'msg = "there is no handle " + "for this device here"',
    ],
)
def test_a_string_written_in_pieces_is_one(text: bytes) -> None:
    assert judged("there is no handle for this device here", text, source=True) == "stands"


def test_an_apostrophe_beside_a_quote_stays() -> None:
    assert (
        judged("'pin_memory' is set, but no GPU is found", b"\"'pin_memory' is set, but no GPU is found\"", source=True)
        == "stands"
    )


def test_an_escaped_quote_is_no_end_of_a_string() -> None:
    text = rb"""'please load with map_location=\'cpu\' '
        'to map your storages'"""
    assert judged("please load with map_location='cpu' to map your storages", text, source=True) == "stands"


def test_a_template_without_a_long_part_is_not_looked_for() -> None:
    assert forms("at {:int} of {:int}") == ()


def test_runs_end_at_the_gaps_of_what_was_measured() -> None:
    measured = [Version(text) for text in ("1.0", "1.1", "1.2", "2.0", "2.1")]
    found = measure_releases.runs({Version("1.0"), Version("1.1"), Version("2.0"), Version("2.1")}, measured)
    assert [(str(first), str(last)) for first, last in found] == [("1.0", "1.1"), ("2.0", "2.1")]


def test_the_ladder_holds_the_newest_release_of_every_minor() -> None:
    releases = [Version(text) for text in ("2.1.2", "1.13.1", "2.1.0", "1.13.0", "2.10.0")]
    assert [str(release) for release in measure_releases.ladder(releases)] == ["1.13.1", "2.1.2", "2.10.0"]


@pytest.mark.parametrize(
    ("tag", "release"),
    [("v2.30.7-1", "2.30.7"), ("rel-1.0.5", "1.0.5"), ("515.43.04", "515.43.04"), ("v1.4.0-rc1", ""), ("main", "")],
)
def test_a_tag_names_a_release(tag: str, release: str) -> None:
    found = measure_releases._TAG.match(tag)
    assert (found[1] if found else "") == release


def test_the_texts_of_a_wheel_are_its_sources_and_the_strings_of_its_libraries(tmp_path: Path) -> None:
    wheel = tmp_path / "some-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as out:
        out.writestr("some/a.py", "print('hello from python')")
        out.writestr("some/include/a.h", "left out")
        out.writestr("some/_C.so", b"\x01\x02hello from the library\x00_ZN2at6nativeE\x00\x03ab\x00")
    found = dict(measure_releases.texts(wheel))
    assert found == {"some/a.py": b"print('hello from python')", "some/_C.so": b"hello from the library"}


def test_the_texts_of_a_source_archive_are_its_source_files(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text('printf("hello")')
    (tmp_path / "a.png").write_bytes(b"hello")
    archive = tmp_path / "some-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as out:
        for name in ("a.cu", "a.png"):
            out.add(tmp_path / name, f"some-1.0/{name}")
    assert dict(measure_releases.texts(archive)) == {"some-1.0/a.cu": b'printf("hello")'}


def test_the_texts_of_a_tag_are_read_from_the_repository(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True
        )

    git("init", "-q")
    (tmp_path / "a.cc").write_text('"a message"')
    (tmp_path / "b.md").write_text("prose")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    git("tag", "v1.2.3")
    cache = tmp_path / "cache"
    cache.mkdir()
    path = measure_releases.kept(f"some@{tmp_path}", Version("1.2.3"), "linux-x86_64", cache)
    assert path == cache / "some-1.2.3.gz"
    assert list(measure_releases.read(path)) == [b'"amessage"']
    assert measure_releases.asked(f"some@{tmp_path}", "") == (f"some@{tmp_path}", [Version("1.2.3")])
