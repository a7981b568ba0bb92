"""Status codes: every one is described, found by name, number and error string, and points to causes that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from conftest import script
from cudnn_triage.engine import triage
from cudnn_triage.knowledge.base import Knowledge
from cudnn_triage.knowledge.base import load as load_knowledge

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "rules"
FILES = sorted((RULES / "codes").glob("*.yaml"))
CAUSES = {path.stem for path in (RULES / "causes").rglob("*.yaml")}
IDS = {path.stem for path in RULES.glob("[cs]*/**/*.yaml")}
EMPTY = frozenset(["the", "a", "an", "is", "was", "of", "for", "to", "not", "in", "that", "it", "or", "and"])
ENUMERATORS = [line.split() for line in (ROOT / "tests" / "enumerators.txt").read_text().splitlines()]


@cache
def load(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return document


@pytest.fixture(scope="module")
def shipped() -> Knowledge:
    return load_knowledge()


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    return script("refresh_codes")


def words(name: str) -> list[str]:
    """The words of a CamelCase or UNDERSCORED name, or of a sentence."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)


def codes(library: str) -> dict[str, dict[str, Any]]:
    return {code["name"]: code for code in load(RULES / "codes" / f"{library}.yaml")["codes"]}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
class TestEveryLibrary:
    def test_every_code_has_a_number_and_says_what_it_means_for_a_person(self, path: Path) -> None:
        for code in load(path)["codes"]:
            assert int(code["number"], 0) is not None, code["name"]
            assert len(code.get("meaning", "")) > 10, code["name"]
            assert code["meaning"].endswith("."), code["name"]

    def test_no_meaning_only_spells_the_name_again(self, path: Path) -> None:
        document = load(path)
        for code in document["codes"]:
            name = {word.lower() for word in words(code["name"].removeprefix(document.get("prefix", "")))}
            said = {word.lower() for word in words(code["meaning"])}
            if code["number"] != "0":
                assert len(said - name - EMPTY) >= 3, f"{code['name']}: {code['meaning']}"

    def test_names_start_with_the_prefix_and_are_unique(self, path: Path) -> None:
        document = load(path)
        names = [code["name"] for code in document["codes"]]
        assert len(names) == len(set(names))
        assert all(name.startswith(document.get("prefix", "")) for name in names)

    def test_it_points_only_to_causes_that_exist(self, path: Path) -> None:
        unknown = {pointer["cause"] for code in load(path)["codes"] for pointer in code.get("points_to", ())} - CAUSES
        assert not unknown

    def test_it_is_an_echo_only_of_rules_that_exist(self, path: Path) -> None:
        named = {name for other in FILES for code in load(other)["codes"] for name in [code["name"]]}
        assert not {i for code in load(path)["codes"] for i in code.get("symptom_of", ())} - IDS - named

    def test_success_points_nowhere(self, path: Path) -> None:
        for code in load(path)["codes"]:
            if code["number"] == "0":
                assert not code.get("points_to")


@pytest.mark.parametrize("library", ["xid", "sxid"])
def test_every_error_of_the_kernel_driver_says_whose_it_is_and_what_to_do(library: str) -> None:
    for code in codes(library).values():
        assert code.get("kind"), code["name"]
        assert len(code.get("action", "")) > 6, code["name"]
        assert code["action"].endswith("."), code["name"]


def test_the_whole_xid_catalogue_is_there() -> None:
    assert {int(code["number"]) for code in codes("xid").values()} >= set(range(1, 177))


@pytest.mark.parametrize(("after", "before"), [("Xid 45", "Xid 79"), ("Xid 154", "Xid 48"), ("Xid 43", "Xid 31")])
def test_an_xid_that_follows_another_names_it(after: str, before: str) -> None:
    assert before in codes("xid")[after]["symptom_of"]


@pytest.mark.parametrize("library", sorted({library for library, _, _ in ENUMERATORS}))
def test_every_enumerator_of_the_vendors_headers_is_answered(library: str, shipped: Knowledge) -> None:
    check = script("check_codes")
    asked = [(name, int(number)) for owner, name, number in ENUMERATORS if owner == library]
    assert len(asked) >= 9
    assert not [form for name, number in asked for form in check.unanswered(library, name, number, shipped)]


@pytest.mark.parametrize("library", sorted({library for library, _, _ in ENUMERATORS} - {"xid", "sxid"}))
def test_every_code_stands_in_a_header_or_says_where_else_it_comes_from(library: str) -> None:
    known = {name for owner, name, _ in ENUMERATORS if owner == library}
    assert {name for name, code in codes(library).items() if name not in known and not code.get("source")} == set()


def test_no_name_belongs_to_two_libraries() -> None:
    names = [code["name"] for path in FILES for code in load(path)["codes"]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("library", "name", "number", "earlier"),
    [
        ("cudnn", "CUDNN_STATUS_NOT_INITIALIZED", "1001", "1"),
        ("cudnn", "CUDNN_STATUS_EXECUTION_FAILED", "5000", "8"),
        ("cudart", "cudaErrorNoKernelImageForDevice", "209", "48"),
        ("cudart", "cudaErrorAssert", "710", "59"),
        ("cudart", "cudaErrorIllegalAddress", "700", "77"),
        ("cudart", "cudaErrorUnknown", "999", "30"),
    ],
)
def test_numbers_of_earlier_releases_are_kept(library: str, name: str, number: str, earlier: str) -> None:
    code = codes(library)[name]
    assert code["number"] == number
    assert earlier in code["numbers"].values()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("cuInit(0) failed with code 100", "CUDA_ERROR_NO_DEVICE"),
        ("CUDA Driver API error = 0209 from file <main.cpp>, line 58", "CUDA_ERROR_NO_BINARY_FOR_GPU"),
        ("failed call to cuInit: 803", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        ("CUDA launch failed: 719", "cudaErrorLaunchFailure"),
        ("cudaStreamCreate() failed with status 46", "cudaErrorDevicesUnavailable"),
        ("error code: 2 from cudaHostAlloc", "cudaErrorMemoryAllocation"),
        ("Check failed: ret == cudaSuccess (35 vs. 0)", "cudaErrorInsufficientDriver"),
        ("GPUassert: 209 kernel.cu 33", "cudaErrorNoKernelImageForDevice"),
        ("cublasCreate_v2() returned error 3", "CUBLAS_STATUS_ALLOC_FAILED"),
        ("cusolverDnCreate failed: 7", "CUSOLVER_STATUS_INTERNAL_ERROR"),
        ("ncclAllReduce failed with error code 2", "ncclSystemError"),
        ("nvmlInit_v2() failed with code 9", "NVML_ERROR_DRIVER_NOT_LOADED"),
        ("[CUDA] unknown error", "cudaErrorUnknown"),
        ("merge_sort failed: initialization error", "cudaErrorInitializationError"),
        ("CUDA Exception: initialization error", "cudaErrorInitializationError"),
        ("cuda failure: error 719", "cudaErrorLaunchFailure"),
        ("cudaGetDeviceCount() failed, status 802", "cudaErrorSystemNotReady"),
        ("CUresult error: 2 out of memory file:entrypoint.cpp", "CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuvidGetDecoderCaps returned error 100", "CUDA_ERROR_NO_DEVICE"),
        ("cudnn returned status 1002", "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
        ("cufft_status = 2", "CUFFT_ALLOC_FAILED"),
        ("hipErrorOutOfMemory (2)", "cudaErrorMemoryAllocation"),
        ("HIP error 209", "cudaErrorNoKernelImageForDevice"),
    ],
)
def test_a_code_is_known_in_the_shapes_in_which_programs_print_it(line: str, code: str, shipped: Knowledge) -> None:
    report = triage(line, knowledge=shipped)
    assert code in {item.id for diagnosis in report.diagnoses for item in diagnosis.evidence}


@pytest.mark.parametrize(
    "line",
    [
        "cudaStreamQuery failed 600 times, then went on",
        "parsed 700 lines from cuda_kernels.cu",
        "CUDA kernel 719 of 900 done",
        "error in line 46",
    ],
)
def test_a_number_that_is_no_code_is_none(line: str, shipped: Knowledge) -> None:
    report = triage(line, knowledge=shipped)
    assert not [d.cause for d in report.diagnoses]


OF_ANOTHER_FIELD = "".join(f"09:12:0{n},590 INFO    : step {n} of the installer\n" for n in range(7))


@pytest.mark.parametrize(
    "text", ["Device does not exist.", "Invalid resource handle", "driver shutting down", "integrity checks failed"]
)
def test_what_a_library_says_in_everyday_words_counts_only_in_logs_of_this_field(text: str, shipped: Knowledge) -> None:
    told = f"{OF_ANOTHER_FIELD}09:12:08,001 ERROR   : {text}\n09:12:09,111 ERROR   : Command failed\n"
    assert not triage(told, knowledge=shipped).diagnoses
    assert triage(f"09:12:00,001 INFO    : using the GPU\n{told}", knowledge=shipped).diagnoses
    assert triage(f"ERROR: {text}", knowledge=shipped).diagnoses  # a few lines: somebody chose them


def test_the_handler_of_a_signal_in_a_trace_of_system_calls_is_no_signal(shipped: Knowledge) -> None:
    line = "rt_sigaction(SIGSEGV, NULL, {sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}, 8) = 0\n"
    assert not triage(
        f'execve("./a.out", ["./a.out"], 0x7ffd /* 31 vars */) = 0\n{line}+++ exited with 0 +++\n', knowledge=shipped
    ).diagnoses


def test_a_failed_check_that_names_success_is_an_error_that_nobody_explains(shipped: Knowledge) -> None:
    line = "a.out: main.cu:12: main(): Assertion `err == cudaSuccess' failed."
    report = triage(line, knowledge=shipped)
    assert [left.text for left in report.unexplained] == [line]
    assert all(d.confidence < 0.5 for d in report.diagnoses)


def test_both_wordings_of_a_changed_error_string_are_known() -> None:
    texts = codes("cudart")["cudaErrorDevicesUnavailable"]["texts"]
    assert "all CUDA-capable devices are busy or unavailable" in texts
    assert "CUDA-capable device(s) is/are busy or unavailable" in texts


def test_only_codes_that_decide_alone_are_certain() -> None:
    certain = {
        c["name"]
        for p in FILES
        for c in load(p)["codes"]
        if any(q.get("strength") == "certain" for q in c.get("points_to", ()))
    }
    assert {
        "cudaErrorAssert",
        "cudaErrorNoKernelImageForDevice",
        "Xid 79",
        "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
    } <= certain
    assert not certain & {
        "CUDNN_STATUS_INTERNAL_ERROR",
        "CUDNN_STATUS_EXECUTION_FAILED",
        "CUBLAS_STATUS_EXECUTION_FAILED",
        "cudaErrorUnknown",
    }


HEADER = """
#define X_STATUS_FAKE 3
typedef enum { OTHER_A = 1 } other_t;
typedef enum {
    /* uncategorised */
    X_STATUS_SUCCESS = 0, /**< fine, really */
    X_STATUS_ALLOC_FAILED = 0x02, // no memory
    X_STATUS_NEXT,
    X_STATUS_OLD_NAME X_DEPRECATED = X_STATUS_ALLOC_FAILED,
    X_STATUS_FORCE_INT = 0x7fffffff
} x_t;
"""


def test_a_header_is_read_with_comments_hex_implicit_numbers_and_aliases(refresh: ModuleType) -> None:
    assert refresh.enumeration(HEADER, "X_STATUS_SUCCESS") == {
        "X_STATUS_SUCCESS": (0, False),
        "X_STATUS_ALLOC_FAILED": (2, False),
        "X_STATUS_NEXT": (3, False),
        "X_STATUS_OLD_NAME": (2, True),
    }


def test_a_refresh_keeps_what_people_wrote(refresh: ModuleType) -> None:
    document = {
        "codes": [
            {"name": "X_GONE", "number": "9", "meaning": "Removed."},
            {"name": "X_A", "meaning": "Written by hand.", "texts": ["an old wording"], "numbers": {"by hand": "77"}},
        ]
    }
    refresh.merge(document, refresh.Wheel("x<2", "X 1"), {"X_A": (1, False)}, {}, newest=False)
    refresh.merge(
        document, refresh.Wheel("x"), {"X_A": (1001, False), "X_B": (5, False)}, {"X_A": "a new wording."}, newest=True
    )
    a, b, gone = document["codes"]
    assert a == {
        "name": "X_A",
        "number": "1001",
        "numbers": {"by hand": "77", "X 1": "1"},
        "meaning": "Written by hand.",
        "texts": ["an old wording", "a new wording"],
    }
    assert b["name"] == "X_B"
    assert not b.get("meaning")
    assert gone["meaning"] == "Removed."


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_file_is_laid_out_as_the_script_writes_it(path: Path, refresh: ModuleType) -> None:
    assert path.read_text(encoding="utf-8") == refresh.dump(load(path))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("cudaSetDevice err: 35", "cudaErrorInsufficientDriver"),
        ("WARN  Failed to initialize CUDA. error code: 35", "cudaErrorInsufficientDriver"),
        ("ollama[1016]: cudaGetDeviceCount() returned error code = 100", "cudaErrorNoDevice"),
        ("E: unable to cudaMalloc(&buf, 1 << 30): error 2", "cudaErrorMemoryAllocation"),
        ("hipMalloc failed, ret=2", "cudaErrorMemoryAllocation"),
        ("cuInit(0) failed rc=999", "CUDA_ERROR_UNKNOWN"),
        ("error 803 in cuInit()", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        ("cublasCreate_v2 status: 1", "CUBLAS_STATUS_NOT_INITIALIZED"),
        ("cudnnConvolutionForward(...) failed with status code 8", "CUDNN_STATUS_EXECUTION_FAILED"),
        ("nvmlInit_v2 ret 18", "NVML_ERROR_LIB_RM_VERSION_MISMATCH"),
        ("Error calling ncclCommInitRank: 2", "ncclSystemError"),
    ],
)
def test_the_number_that_a_named_function_returned_is_its_code(line: str, code: str) -> None:
    (best, *_) = triage(line).diagnoses
    assert code in [evidence.id for evidence in best.evidence]


@pytest.mark.parametrize(
    "line",
    [
        "cudaMalloc          2   0.35 ms   [CUDA memory]",
        "nvmlDeviceGetCount = 4",
        "calls: cudaMemcpy 35, cudaLaunchKernel 700",
        "cuInit done in 100 ms",
        "cudaDriverGetVersion returned 12040",
        "cudaStreamSynchronize returned 0",
    ],
)
def test_numbers_beside_a_function_that_it_did_not_return_are_no_codes(line: str) -> None:
    assert not triage(line).diagnoses
