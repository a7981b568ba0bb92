"""Version tables: rows are typed, sourced and found; what they say about well-known releases and cards."""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from cudnn_triage.tables import _contains, find_row
from cudnn_triage.values import read

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "rules" / "compat").glob("*.yaml"))
TYPES = {
    name: fact["type"]
    for path in (ROOT / "rules" / "facts").glob("*.yaml")
    for name, fact in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader).get("facts", {}).items()
}


def load(name: str) -> dict[str, Any]:
    path = ROOT / "rules" / "compat" / f"{name}.yaml"
    document: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return document


def row(table: str, kind: str, text: str) -> dict[str, str]:
    value = read(kind, text)
    assert value is not None
    return find_row(load(table), value) or {}


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    sys.path.append(str(ROOT / "scripts"))  # for the modules beside it
    spec = importlib.util.spec_from_file_location("refresh_compat", ROOT / "scripts" / "refresh_compat.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["refresh_compat"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
class TestEveryTable:
    def test_keys_are_unique_and_every_row_has_a_source(self, path: Path) -> None:
        document = load(path.stem)
        keys = [r["key"].casefold() for r in document["rows"]]
        assert len(keys) == len(set(keys))
        assert all(
            (r.get("source") or document.get("source")) and (r.get("read") or document.get("read"))
            for r in document["rows"]
        )

    def test_what_it_gives_can_be_read_as_the_fact_it_gives(self, path: Path) -> None:
        document = load(path.stem)
        for column, fact in document.get("gives", {}).items():
            assert fact in TYPES
            for r in document["rows"]:
                assert not r.get(column) or read(TYPES[fact], r[column]) is not None, (r["key"], column)

    def test_it_names_no_package_registry(self, path: Path) -> None:
        assert "pypi" not in path.read_text(encoding="utf-8").casefold()

    def test_it_is_laid_out_as_the_script_writes_it(self, path: Path, refresh: ModuleType) -> None:
        assert path.read_text(encoding="utf-8") == refresh.dump(load(path.stem))


@pytest.mark.parametrize(
    ("name", "cc"),
    [
        ("NVIDIA GeForce RTX 3090 Ti", "8.6"),
        ("GeForce GTX 1080 Ti", "6.1"),
        ("Tesla V100-SXM2-16GB", "7.0"),
        ("NVIDIA A100-SXM4-80GB", "8.0"),
        ("NVIDIA A10G", "8.6"),
        ("NVIDIA RTX A6000", "8.6"),
        ("NVIDIA RTX 6000 Ada Generation", "8.9"),
        ("Quadro RTX 6000", "7.5"),
        ("NVIDIA H100 80GB HBM3", "9.0"),
        ("NVIDIA GeForce RTX 5090", "12.0"),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "12.0"),
        ("NVIDIA B200", "10.0"),
        ("Tesla K80", "3.7"),
        ("GeForce GTX TITAN X", "5.2"),
        ("NVIDIA TITAN X (Pascal)", "6.1"),
        ("Quadro M2000M", "5.0"),
        ("GeForce MX150", "6.1"),
        ("Tesla T4", "7.5"),
    ],
)
def test_a_gpu_name_gives_its_compute_capability(name: str, cc: str) -> None:
    assert row("gpus", "gpu", name).get("cc") == cc


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("/env/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so", "flash-attn"),
        (
            "/usr/lib/python3.8/dist-packages/MinkowskiEngine-0.5.4-py3.8-linux-x86_64.egg/MinkowskiEngineBackend.so",
            "MinkowskiEngine",
        ),
        ("D:\\env\\Lib\\site-packages\\pytorch3d\\_C.cp310-win_amd64.pyd", "pytorch3d"),
        ("fused_layer_norm_cuda.cpython-37m-x86_64-linux-gnu.so", "apex"),
        ("mmcv/_ext.cpython-38-x86_64-linux-gnu.so", "mmcv"),
        ("/envs/vllm/lib/python3.11/site-packages/unheard_of/_C.abi3.so", None),  # an environment with a package's name
        ("/home/vllm/src/unheard_of/_C.abi3.so", None),
    ],
)
def test_a_compiled_module_tells_its_package(file: str, package: str | None) -> None:
    assert row("module-packages", "path", file).get("package") == package


def test_an_unknown_gpu_gives_nothing() -> None:
    assert row("gpus", "gpu", "Radeon RX 7900 XTX") == {}


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [
        ("535.104.05", "12.2"),
        ("572.61", "12.8"),
        ("470.256.02", "11.4"),
        ("580.65.06", "13.0"),
        ("390.77", "9.1"),
        ("566.36", "12.7"),
    ],
)
def test_a_driver_gives_the_newest_cuda_it_supports(driver: str, cuda: str) -> None:
    assert row("driver-cuda", "version", driver)["cuda"] == cuda


def test_driver_branches_follow_each_other_without_a_gap() -> None:
    spans = [tuple(part.strip("<>=") for part in r["key"].split(",")) for r in load("driver-cuda")["rows"]]
    assert all(earlier[1] == later[0] for earlier, later in pairwise(spans))


@pytest.mark.parametrize(
    ("cuda", "driver"), [("11.8", "450.80.02"), ("12.8", "525.60.13"), ("13.0", "580.65.06"), ("10.2", "440.33")]
)
def test_a_cuda_release_gives_the_oldest_driver_it_runs_on(cuda: str, driver: str) -> None:
    assert row("cuda-driver", "version", cuda)["driver"] == driver


@pytest.mark.parametrize(
    ("version", "cuda", "cudnn"),
    [("2.5.0", "11.2", "8.1"), ("1.15.2", "10.0", "7.4"), ("2.15.1", "12.2", "8.9"), ("2.18.0", "12.5", "9.3")],
)
def test_a_tensorflow_release_gives_its_cuda_and_cudnn(version: str, cuda: str, cudnn: str) -> None:
    found = row("tensorflow", "version", version)
    assert (found["cuda"], found["cudnn"]) == (cuda, cudnn)


@pytest.mark.parametrize(
    ("version", "cuda", "arch"),
    [("2.1.0+cu118", "11.8", "sm_90"), ("1.8.1+cu111", "11.1", "sm_86"), ("2.7.0+cu128", "12.8", "sm_120")],
)
def test_a_build_of_torch_gives_its_cuda_and_architectures(version: str, cuda: str, arch: str) -> None:
    found = row("torch-builds", "version", version)
    assert found["cuda"] == cuda
    assert arch in found["archs"].split()


def test_a_bare_version_of_an_old_torch_does_not_name_a_cuda() -> None:
    """A conda build for another CUDA prints the same version."""
    assert "cuda" not in row("pytorch", "version", "1.9.0")
    assert row("pytorch", "version", "1.9.0")["builds"] == "10.2 11.1"
    assert row("pytorch", "version", "2.8.0")["cuda"] == "12.8"


def test_a_torch_with_a_local_version_is_not_taken_for_the_default_wheel() -> None:
    assert row("pytorch", "version", "2.8.0+cu126") == {}
    assert row("torch-local", "version", "2.99.0+cu126")["cuda"] == "12.6"


@pytest.mark.parametrize(
    ("library", "column", "release"),
    [
        ("libcudart.so.10.1", "cuda", "10.1"),
        ("libcublas.so.11", "cuda", "11"),
        ("libcudnn.so.8", "cudnn", "8"),
        ("cublas64_12.dll", "cuda", "12"),
        ("cudart64_101.dll", "cuda", "10.1"),
        ("cudnn_ops64_9.dll", "cudnn", "9"),
    ],
)
def test_a_library_name_gives_the_release_it_comes_from(library: str, column: str, release: str) -> None:
    assert row("sonames", "soname", library)[column] == release


def test_a_library_of_several_cuda_releases_names_none() -> None:
    assert "cuda" not in row("sonames", "soname", "libcusolver.so.10")
    assert "cuda" not in row("sonames", "soname", "libcusparse.so.12")


def test_both_architecture_tables_say_the_same() -> None:
    assert load("cuda-archs")["rows"] == load("cuda-build-archs")["rows"]


def test_pins_in_metadata_become_columns(refresh: ModuleType) -> None:
    found = refresh.row_of(
        {
            "requires_dist": [
                "numpy",
                'nvidia-cuda-runtime-cu12==12.8.90; platform_system == "Linux"',
                "nvidia-cudnn-cu12<10.0,>=9.8 ; extra == 'with_cuda'",
                "nvidia-nccl-cu12~=2.27.5",
            ],
            "classifier": [
                "Programming Language :: Python :: 3",
                "Programming Language :: Python :: 3.9",
                "Programming Language :: Python :: 3.10",
            ],
        }
    )
    assert found == {"cuda": "12.8", "cudnn": "9.8", "nccl": "2.27.5", "python_oldest": "3.9", "python_newest": "3.10"}
    assert refresh.row_of({"requires_dist": ["cuda-toolkit[cublas,cudart]==13.0.2"]}) == {"cuda": "13.0"}


@given(
    st.lists(
        st.tuples(
            st.sampled_from([">=", "<=", ">", "<", "==", "!=", "~="]),
            st.lists(st.integers(0, 12), min_size=2, max_size=4),
        )
    ),
    st.lists(st.integers(0, 12), min_size=1, max_size=4),
)
def test_ranges_of_versions_mean_what_pep_440_says(parts: list[tuple[str, list[int]]], release: list[int]) -> None:
    specifier = ", ".join(sign + ".".join(map(str, bound)) for sign, bound in parts)
    expected = SpecifierSet(specifier).contains(".".join(map(str, release)))
    assert _contains(specifier, tuple(release)) == expected
