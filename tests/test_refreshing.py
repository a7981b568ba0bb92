"""The scripts that make tables from the package registry: what they read from names, metadata and compiled files."""

from __future__ import annotations

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.version import Version

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.append(str(SCRIPTS))

import binaries  # noqa: E402
import check_pins  # noqa: E402
import refresh_compat  # noqa: E402
import registry  # noqa: E402


@pytest.mark.parametrize(
    ("name", "pythons", "platform", "glibc"),
    [
        ("torch-2.7.1-cp311-cp311-manylinux_2_28_x86_64.whl", {"3.11"}, "linux-x86_64", "2.28"),
        ("torch-1.9.1-cp36-cp36m-manylinux1_x86_64.whl", {"3.6"}, "linux-x86_64", "2.5"),
        ("torch-2.7.1-cp313-cp313-win_amd64.whl", {"3.13"}, "windows-x86_64", ""),
        ("torch-2.7.1-cp313-none-macosx_11_0_arm64.whl", {"3.13"}, "macos-arm64", ""),
        ("torchvision-0.29.2-py3-none-manylinux_2_28_aarch64.whl", set(), "linux-aarch64", "2.28"),
    ],
)
def test_a_wheel_tells_by_its_name_where_it_runs(name: str, pythons: set[str], platform: str, glibc: str) -> None:
    (found,) = registry._wheel(name)
    assert (set(found.pythons), found.platform, found.glibc) == (pythons, platform, glibc)


@pytest.mark.parametrize(
    "name",
    [
        "torch-2.7.1-cp313-cp313t-manylinux_2_28_x86_64.whl",
        "torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl",
        "torch-2.8.0rc1-cp311-cp311-win_amd64.whl",
        "notes.whl",
    ],
)
def test_other_interpreters_local_builds_and_previews_do_not_count(name: str) -> None:
    assert list(registry._wheel(name)) == []


def test_two_glibc_tags_mean_the_older_one() -> None:
    (found,) = registry._wheel("onnxruntime_gpu-1.27.0-cp314-cp314-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl")
    assert found.glibc == "2.27"


def test_a_pip_that_does_not_tell_withdrawn_releases_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    said = json.dumps({"version": "1", "pip_version": "23.2.1", "install": [{"metadata": {"name": "jax"}}]})
    monkeypatch.setattr(
        registry.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout=said, stderr="")
    )
    with pytest.raises(SystemExit, match=r"pip 23\.2\.1 does not tell .* withdrawn: .* 'pip>=23\.3'"):
        registry.resolved(["jax==0.4.32"], "3.12", "linux-x86_64", deps=False)


def test_rows_of_pythons_are_spans() -> None:
    assert refresh_compat.spans({"3.9", "3.10", "3.8", "3.13"}) == "3.8-3.10 3.13"
    assert refresh_compat.spans({"3.7"}) == "3.7"


def test_companions_are_paired_by_their_pins() -> None:
    told = {
        "torchvision": {
            Version("0.29.2"): ["torch (>=2.14.0)"],
            Version("0.29.0"): ["torch (==2.14.0)", "numpy"],
            Version("0.28.0"): ["torch==2.13.0"],
        },
        "torchaudio": {
            Version("2.0.1"): ["torch (==2.0.0)"],
            Version("2.0.0"): ["torch (==2.0.0)"],
            Version("2.11.0"): [],
        },
    }
    torches = [Version(text) for text in ("2.0.0", "2.13.0", "2.14.0", "2.14.1", "2.15.0", "1.0.0")]
    assert list(refresh_compat.paired(told, torches)) == [
        {"key": "2.0.0", "torchaudio": "2.0.1"},
        {"key": "2.13.0", "torchvision": "0.28.0"},
        {"key": "2.14.0", "torchvision": "0.29.0"},
        {"key": "2.14.1", "torchvision": "0.29.2"},
        {"key": "2.15.0", "torchvision": "0.29.2"},
    ]


def fatbin(*entries: tuple[int, int]) -> bytes:
    """A fat binary with entries of (kind, architecture), as fatbinary_section.h lays it out."""
    body = b"".join(
        struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, 8, 0, 0, 0, 1, arch, 0, 0, 0, 0, 0) + b"\0" * 8
        for kind, arch in entries
    )
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(body)) + body


def wheel(folder: Path, **files: bytes) -> Path:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    path = folder / "some.whl"
    path.write_bytes(content.getvalue())
    return path


def test_architectures_are_read_from_fat_binaries(tmp_path: Path) -> None:
    library = b"ELF" + fatbin((2, 80), (1, 90)) + b"noise\x50\xed\x55\xba" + b"\0" * 5 + fatbin((2, 86), (2, 120))
    found = wheel(tmp_path, lib__so=library, other__so__9=fatbin((2, 75)), text__txt=fatbin((2, 35)))
    assert binaries.archs(found) == "sm_75 sm_80 sm_86 sm_120 compute_90"


def test_a_library_cut_short_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    whole = fatbin((2, 80), (2, 86))
    assert binaries.archs(wheel(tmp_path, lib__so=whole[:-60])) in ("sm_80", "sm_80 sm_86")
    assert binaries.archs(wheel(tmp_path, lib__so=whole[:10])) == ""


def test_torch_tells_its_architectures_in_a_string(tmp_path: Path) -> None:
    content = b"\0sm_50 sm_60 sm_70\0\0sm_90\0"
    assert binaries.torch_archs(wheel(tmp_path, libtorch_cuda__so=content)) == "sm_50 sm_60 sm_70"


@pytest.mark.parametrize(
    ("command", "asked"),
    [
        ('python -m pip install "torch==2.1" torchvision --index-url https://x.y/z', ["torch==2.1", "torchvision"]),
        ("python -m pip uninstall -y torch", []),
        ("# pip install old==1   then that", []),
        ('pip install "jax[cuda12]"   # "jax[cuda13]" where newer', ["jax[cuda12]"]),
        ("uv pip install --torch-backend=auto torch && uv pip check", ["torch"]),
        ("uv pip install --python an-env vllm", ["vllm"]),
        ("python -m pip install --no-deps PACKAGE==VERSION .", []),
        ('python -m pip install "nvidia-cudnn-cu{cuda.build.major}==9.*"', []),
        ('pip install "torch_xla==$(python -c "import torch; print(torch.__version__.split(chr(43))[0])")"', []),
    ],
)
def test_requirements_of_a_command(command: str, asked: list[str]) -> None:
    assert [str(found) for found in check_pins.requirements(command)] == asked


def test_the_grid_gives_sets_for_every_framework() -> None:
    sets = check_pins.solved_sets(check_pins.load(), 40)
    assert len(sets) == 40
    assert {framework for framework, _, _ in sets} == set(check_pins.GRID)
    assert all(check_pins.asked(answer) for _, _, answer in sets)
