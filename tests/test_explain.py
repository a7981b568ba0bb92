"""``cudnn-triage explain``: causes, messages, statuses and numbers, and what is near when nothing of that name is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Rules
from cudnn_triage.catalogue import architecture_name, architecture_page, architectures
from cudnn_triage.cli import main
from cudnn_triage.explain import Unknown, explain
from cudnn_triage.knowledge import rulebook
from cudnn_triage.knowledge.base import Knowledge, load
from cudnn_triage.pages import Names

ROOT = Path(__file__).resolve().parents[1]

CODES = """
library: {library}
title: codes
source: tests
read: 2026-11-20
codes:
  - name: {name}
    number: '{number}'
    meaning: {meaning}
    points_to: [{{cause: no-cheese, strength: strong, when: frob.version < 3, why: old frobs}}]
"""


@pytest.fixture
def knowledge(rules: Rules) -> Knowledge:
    rules.facts(frob__version="version")
    rules.cause(
        "no-cheese",
        severity="fatal",
        more="tells_apart: The fridge is empty.\nneighbours: [no-milk]\n"
        "fixes:\n  - {title: Buy cheese, safety: reversible, applies: shops, commands: [buy cheese], verify: [ls fridge], "
        "why: it is needed, source: s, read: 2026-11-20}\n"
        "dead_ends: [{tried: Waiting, why: cheese does not come by itself}]\n"
        "references: [{title: On cheese, url: 'https://cheese.example/', read: 2026-11-20}]",
    )
    rules.cause("no-milk")
    rules.points("out-of-cheese", "the frob is out of cheese", "no-cheese", "certain", more="symptom_of: [no-milk]")
    rules.signature(
        "cheese-there", "the frob has cheese again", more="points_to: [{cause: no-cheese, against: strong, why: full}]"
    )
    rules.file("codes/frob.yaml", CODES.format(library="frob", name="FROB_EMPTY", number="7", meaning="It is empty."))
    rules.file("codes/xid.yaml", CODES.format(library="xid", name="Xid 7", number="7", meaning="The card says so."))
    return rules.knowledge()


def test_a_cause_is_told_with_fixes_checks_dead_ends_messages_and_neighbours(knowledge: Knowledge) -> None:
    page = explain("no-cheese", knowledge)
    assert page.splitlines()[:2] == ["no-cheese: Cause no-cheese", "family library, fatal"]
    for told in (
        "Because of no-cheese.",
        "What tells it from others: The fridge is empty.",
        "Fix 1: Buy cheese (shops) [reversible]",
        "  $ buy cheese",
        "  check: ls fridge",
        "  - Waiting: cheese does not come by itself",
        "  certain   out-of-cheese: Message out-of-cheese",
        "Neighbours: no-milk",
        "On cheese: https://cheese.example/",
    ):
        assert told in page
    assert "cheese-there" not in page  # it speaks against the cause


def test_the_facts_that_decide_are_told_with_their_conditions(rules: Rules) -> None:
    rules.facts(frob__version="version")
    rules.cause(
        "no-cheese",
        more="evidence: [{when: frob.version < 3, strength: likely, why: old frobs leak}, "
        "{when: known(frob.version), against: weak, why: the frob answered}]",
    )
    page = explain("no-cheese", rules.knowledge())
    assert (
        "Facts that speak for or against it:\n  likely    old frobs leak\n            when frob.version < 3\n" in page
    )
    assert "  against weak      the frob answered\n            when known(frob.version)" in page


def test_a_cause_without_the_optional_parts_has_no_empty_headings(knowledge: Knowledge) -> None:
    assert explain("no-milk", knowledge).splitlines() == [
        "no-milk: Cause no-milk",
        "family library, fatal",
        "",
        "Because of no-milk.",
    ]


def test_a_signature_is_told_with_its_wording_and_what_it_points_to(knowledge: Knowledge) -> None:
    page = explain("out-of-cheese", knowledge)
    assert page.startswith("out-of-cheese: Message out-of-cheese\n")
    assert "Printed as:\n  the frob is out of cheese" in page
    assert "  certain   no-cheese: Cause no-cheese" in page
    assert "Only an echo when one of these is there: no-milk" in page
    assert "against strong    no-cheese: Cause no-cheese\n            full" in explain("cheese-there", knowledge)


def test_odds_are_told_from_both_sides(rules: Rules) -> None:
    rules.cause("no-cheese")
    rules.cause("no-milk")
    both = "points_to: [{cause: no-cheese, strength: strong}, {cause: no-milk, strength: strong, odds: 0.2}]"
    rules.signature("all-gone", "the fridge is empty", more=both)
    told = "\n            meant 0.2 times as often as others of this strength"
    page = explain("all-gone", rules.knowledge())
    assert f"no-milk: Cause no-milk{told}" in page
    assert page.count(told) == 1
    assert f"  strong    all-gone: Message all-gone{told}" in explain("no-milk", rules.knowledge())


@pytest.mark.parametrize("asked", ["FROB_EMPTY", "frob_empty", "  FROB_EMPTY\n"])
def test_a_status_name_in_any_case(knowledge: Knowledge, asked: str) -> None:
    page = explain(asked, knowledge)
    assert page.startswith("FROB_EMPTY: It is empty.")
    assert "  strong    no-cheese: Cause no-cheese\n            when frob.version < 3\n            old frobs" in page


@pytest.mark.parametrize("asked", ["7", "0x7", "0X7", "error 7", "error 007", "code 0x00000007"])
def test_a_number_is_told_for_every_library_that_has_it(knowledge: Knowledge, asked: str) -> None:
    page = explain(asked, knowledge)
    assert "FROB_EMPTY: It is empty." in page
    assert "Xid 7: The card says so." in page


@pytest.mark.parametrize("asked", ["Xid 7", "xid 7", "XID 0x7", "xid7"])
def test_an_xid_is_not_taken_for_the_number_of_another_library(knowledge: Knowledge, asked: str) -> None:
    page = explain(asked, knowledge)
    assert "The card says so." in page
    assert "FROB_EMPTY" not in page


def test_an_unknown_name_tells_what_is_spelt_nearly_like_it(knowledge: Knowledge) -> None:
    with pytest.raises(Unknown) as error:
        explain("no-chese", knowledge)
    assert error.value.close[0] == "no-cheese"
    with pytest.raises(Unknown) as error:
        explain("FROB_EMTY", knowledge)
    assert error.value.close == ["FROB_EMPTY"]


@pytest.mark.parametrize(
    "asked",
    ["", " ", "8", "08", "9" * 5000, "a" + "1" * 90_000 + "-1x", "0x", "-7", "rm -rf", "libfrob.so.1", "sm_999"],
)
def test_what_means_nothing_is_unknown_and_not_an_error(knowledge: Knowledge, asked: str) -> None:
    with pytest.raises(Unknown):
        explain(asked, knowledge)


# ---- the shipped knowledge


@pytest.fixture(scope="module")
def shipped() -> Knowledge:
    return load()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("700", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("700", "cudaErrorIllegalAddress"),
        ("0x1", "CUDNN_STATUS_NOT_INITIALIZED"),
        ("Xid 79", "fell off the bus"),
        ("CUDA error 700", "cudaErrorIllegalAddress"),
        ("CUDA error: 700", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("error 0x2bc", "cudaErrorIllegalAddress"),
        ("cudaErrorIllegalAddress (700)", "cudaErrorIllegalAddress: "),
        ("CUDA_ERROR_700", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("CUDNN_STATUS_8", "CUDNN_STATUS_EXECUTION_FAILED"),
        ("cublas status: 13", "CUBLAS_STATUS_EXECUTION_FAILED"),
        ("Xid (PCI:0000:3b:00): 79", "fell off the bus"),
        ("NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "Power-cycle"),
        ("SXid 12028", "NVSWITCH_ERR_HW_NPORT_EGRESS_PRIVRSPERR"),
        ("nvidia-nvswitch0: SXid (PCI:0000:c4:00.0): 20034, Fatal, Link 30 LTSSM Fault Up", "SXid 20034: "),
        ("ROBUST_CHANNEL_PREEMPTIVE_REMOVAL", "Xid 45: "),
        ("exit code 137", "SIGKILL: "),
        ("exit code -9", "SIGKILL: "),
        ("signal 9", "SIGKILL: "),
        ("0xC0000005", "STATUS_ACCESS_VIOLATION: "),
        ("[WinError 126]", "WinError 126: "),
        ("WinError 126", "A DLL, or a DLL that it needs"),
        ("Process finished with exit code -1073741819 (0xC0000005)", "STATUS_ACCESS_VIOLATION: "),
        (
            "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear if",
            "CUDNN_STATUS_NOT_SUPPORTED: ",
        ),
        ("xid79", "fell off the bus"),
        ("CUDNN_STATUS_NOT_INITIALIZED", "Points to:"),
        ("cudaErrorNoKernelImageForDevice", "gpu-arch-unsupported"),
        ("cudnn-not-found", "What does not help:"),
    ],
)
def test_what_people_ask_for(shipped: Knowledge, asked: str, told: str) -> None:
    assert told in explain(asked, shipped)


def test_a_number_with_its_library_is_not_told_for_other_libraries(shipped: Knowledge) -> None:
    page = explain("cudnn status 8", shipped)
    assert page.startswith("cudnn 8 (cuDNN 7-8)\n\nCUDNN_STATUS_EXECUTION_FAILED: ")
    assert "cublas" not in page.partition("\n\n")[0]
    assert page.count("\nNumber: ") == 1


def test_a_number_that_meant_something_else_in_earlier_releases_is_told_with_the_release(shipped: Knowledge) -> None:
    page = explain("CUDA error 4", shipped)
    assert "cudart 4\n\ncudaErrorCudartUnloading: " in page
    assert "cudart 4 (CUDA 5-10.0)\n\ncudaErrorLaunchFailure: " in page


def test_a_pasted_message_is_told_as_the_messages_it_holds(shipped: Knowledge) -> None:
    page = explain(
        "Loaded runtime CuDNN library: 7.1.2 but source was compiled with: 7.6.0.  CuDNN library major and minor version "
        "needs to match or have higher minor version in case of CuDNN 7.0 or later version.",
        shipped,
    )
    assert "  certain   cudnn-version-mismatch: " in page


def test_an_xid_says_whose_it_is_and_what_to_do(shipped: Knowledge) -> None:
    page = explain("Xid 79", shipped)
    assert "Kind: hardware\nWhat to do: Power-cycle the machine" in page


def test_the_holes_of_a_message_are_shown_in_words(rules: Rules) -> None:
    rules.facts(frob__version="version")
    rules.cause("no-cheese")
    rules.points("odd", "frob {frob.version:version} of {:path} {=not |}found in {{ {:code(frob)} }}", "no-cheese")
    rules.file("codes/frob.yaml", CODES.format(library="frob", name="FROB_EMPTY", number="7", meaning="It is empty."))
    assert "  frob <frob.version> of <path> (not |)found in { <code> }" in explain("odd", rules.knowledge())


def test_a_mistyped_status_name_suggests_the_status(shipped: Knowledge) -> None:
    with pytest.raises(Unknown) as error:
        explain("CUDNN_STATUS_NOT_INITIALISED", shipped)
    assert "CUDNN_STATUS_NOT_INITIALIZED" in error.value.close


def test_every_cause_every_message_and_every_code_explains(shipped: Knowledge) -> None:
    for name, cause in shipped.causes.items():
        assert explain(name, shipped).startswith(f"{name}: {cause['title']}\n")
    for rule in shipped.rules:
        if not rule["id"].endswith(("-numbered", "-worded")):
            assert rule["title"] in explain(rule["id"], shipped)


def test_every_number_of_every_library_explains(shipped: Knowledge) -> None:
    book = rulebook.read([ROOT / "rules"])
    assert len(book.codes) > 10
    for library, codes in book.codes.items():
        for code in codes.codes:
            for number in (code.number, *code.numbers.values()):
                if number and not number.startswith("-"):
                    assert f"{library} {number}".lower() in explain(number, shipped), code.name


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "Xid", "79"]) == 0
    assert capsys.readouterr().out.startswith("Xid 79: ")
    assert main(["explain", "cudnn-version-mismach"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "nothing is known of 'cudnn-version-mismach'; nearest: cudnn-version-mismatch" in told.err


SHIPPED = load()


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("libcudnn.so.8", ["Release: cuDNN 8", "torch 1.7.0 to 2.3.1", "cudnn-not-found"]),
        ("libcudnn_ops_infer.so.8", ["Release: cuDNN 8", "cudnn-sublibrary-mismatch"]),
        ("/usr/local/cuda/lib64/libcublasLt.so.12", ["Release: CUDA 12", "Wheel: nvidia-cublas-cu12"]),
        ("cudart64_110.dll", ["Wheel: nvidia-cuda-runtime-cu11", "windows-dll-missing"]),
        ("libnvinfer.so.8", ["TensorRT", "harmless where nobody uses"]),
        ("libnccl.so.2", ["NCCL", "nccl-version-mismatch"]),
        ("libcuda.so.1", ["the NVIDIA driver", "no wheel and no CUDA toolkit brings it", "driver-not-loaded"]),
        ("sm_120", ["compute capability 12.0", "RTX 5090", "since 12.8", "570 or newer", "gpu-arch-unsupported"]),
        ("sm120", ["compute capability 12.0"]),
        ("8.6", ["sm_86"]),
        ("compute capability 3.5", ["up to 11.8", "up to branch 470"]),
        ("NVIDIA GeForce RTX 4090", ["sm_89: compute capability 8.9"]),
        ("nccl", ["nvidia-nccl-cu11", "ncclSystemError", "nccl-version-mismatch"]),
        ("xid", ["Xid 79"]),
    ],
)
def test_libraries_products_and_architectures_are_told_from_the_tables(asked: str, told: list[str]) -> None:
    page = explain(asked, SHIPPED)
    assert [text for text in told if text not in page] == []


@pytest.mark.parametrize(
    ("asked", "close"),
    [
        ("libcudnnn.so.9", "libcudnn.so.9"),
        ("cudnn-not-fond", "cudnn-not-found"),
        ("GeForce RTX 5909", "RTX 5090"),
        ("CUDNN_STATUS_BAD_PARM", "CUDNN_STATUS_BAD_PARAM"),
    ],
)
def test_what_is_misspelt_is_unknown_with_what_is_near(asked: str, close: str) -> None:
    with pytest.raises(Unknown) as unknown:
        explain(asked, SHIPPED)
    assert unknown.value.close[0] == close


def test_what_products_and_architectures_name_is_there() -> None:
    """Causes and libraries of codes in the table of products."""
    for row in SHIPPED.table["products"]["rows"]:
        assert [name for name in row["causes"].split() if name not in SHIPPED.causes] == []
        assert [name for name in row.get("codes", "").split() if name not in SHIPPED.libraries] == []
    for cc in architectures(SHIPPED):
        page = architecture_page(architecture_name(cc), SHIPPED)
        assert page is not None
        assert any(isinstance(part, Names) and set(part.ids) <= set(SHIPPED.causes) for part in page.parts)


@pytest.mark.parametrize(
    ("asked", "architecture"),
    [
        ("GTX 1080 Ti", "sm_61"),
        ("A100-SXM4-80GB", "sm_80"),
        ("NVIDIA GeForce RTX 3060 Laptop GPU", "sm_86"),
        ("RTX 6000 Ada Generation", "sm_89"),
        ("4090", "sm_89"),
        ("k80", "sm_37"),
    ],
)
def test_a_gpu_is_known_by_the_name_that_nvidia_smi_prints_and_by_its_number(asked: str, architecture: str) -> None:
    assert explain(asked, SHIPPED).startswith(f"{architecture}: ")


def test_a_message_that_names_a_gpu_is_a_message() -> None:
    message = (
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation."
    )
    assert explain(message, SHIPPED).startswith("torch-sm-incompatible")
    for no_name in ("ba1000", "the RTX 5090 in this machine is a very fine card"):
        with pytest.raises(Unknown):
            explain(no_name, SHIPPED)


def test_a_message_in_other_words_is_explained_by_the_cause_that_it_is_about() -> None:
    assert explain("CUDA out of memory", load()).startswith("gpu-out-of-memory: ")


def test_what_is_long_is_repeated_in_part_and_a_message_is_sent_to_the_log(
    knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cudnn_triage.commands.knowledge", lambda folders: knowledge)
    assert main(["explain", "a" * 5000]) == 2
    assert len(capsys.readouterr().err) < 500
    assert main(["explain", "the fridge hums loudly"]) == 2
    assert "cudnn-triage FILE" in capsys.readouterr().err


def test_fixes_for_any_log_stand_before_those_that_a_message_calls_for(rules: Rules) -> None:
    rules.facts(frob__version="version")
    fix = "  - {{title: {0}, safety: inspect, {1}commands: [ls], verify: [v], why: w, source: s, read: 2026-11-20}}\n"
    rows = [("Called", "when: seen(gone), first: seen(gone), "), ("Some", "when: frob.version < 3, "), ("Any", "")]
    rules.cause("no-cheese", more="fixes:\n" + "".join(fix.format(*row) for row in rows))
    rules.points("gone", "the cheese is gone", "no-cheese")
    page = explain("no-cheese", rules.knowledge())
    assert [line for line in page.splitlines() if line.startswith("Fix ")] == [
        f"Fix {number}: {title} [inspect]" for number, title in enumerate(("Any", "Some", "Called"), 1)
    ]


def test_long_lines_are_wrapped_but_commands_and_messages_stay_whole(
    rules: Rules, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command, message = "buy " + "cheese " * 30 + "now", "the frob " + "really " * 30 + "is out of cheese"
    fix = (
        f"[{{title: Buy, safety: inspect, commands: ['{command}'], verify: [v], why: w, source: s, read: 2026-11-20}}]"
    )
    rules.cause("no-cheese", more=f"tells_apart: {'The fridge is empty. ' * 30}\nfixes: {fix}")
    rules.points("out", message, "no-cheese")
    monkeypatch.setattr("cudnn_triage.commands.knowledge", lambda folders: rules.knowledge())
    monkeypatch.setenv("COLUMNS", "60")
    for name, whole in (("no-cheese", f"  $ {command}"), ("out", f"  {message}")):
        assert main(["explain", name]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert whole in lines
        assert [line for line in lines if len(line) > 60] == [whole]
