"""The solver: what it answers works by an independent check, holds whatever is not known, and is never a guess."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from cudnn_triage.cli import main
from cudnn_triage.engine import triage
from cudnn_triage.facts import Fact
from cudnn_triage.knowledge.base import load
from cudnn_triage.solving import Answer, Situation, Wishes, solve
from cudnn_triage.solving.commands import HOLES
from cudnn_triage.solving.limits import LimitError, keeps, limits
from cudnn_triage.values import Version, capability, version

ROOT = Path(__file__).resolve().parent.parent
KNOWN = load()
FRAMEWORKS = sorted(KNOWN.recipes)


@cache
def rows(table: str) -> dict[str, dict[str, str]]:
    document = yaml.load(
        (ROOT / "rules" / "compat" / f"{table}.yaml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader
    )
    return {row["key"]: row for row in document["rows"]}


DRIVERS, SERVED, WHEELS, CUDNN, RANGES = map(
    rows, ("cuda-driver", "driver-archs", "wheels", "cudnn-support", "cuda-build-archs")
)


def v(text: str) -> Version:
    found = version(text)
    assert found is not None
    return found


def cc(text: str) -> Version:
    found = capability(text)
    assert found is not None
    return found


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text))


def ask(framework: str = "torch", keep: dict[str, str] | None = None, manager: str = "pip", **known: Any) -> Answer:
    known["gpus"] = tuple(cc(text) for text in known.pop("gpu", "").split())
    for name in ("driver", "python", "glibc", "driver_cuda"):
        if name in known:
            known[name] = v(known[name])
    known["installed"] = tuple((name, v(text)) for name, text in known.get("installed", {}).items())
    wishes = Wishes(tuple(sorted((keep or {}).items())), manager)
    return solve(framework, Situation(**known), wishes, KNOWN)


# --- the independent check: tables read anew, rules of compatibility written anew


def build_row(answer: Answer) -> dict[str, str]:
    assert answer.choice
    package, release = answer.choice.packages[0]
    minor = ".".join(release.split("+")[0].split(".")[:2])
    public = release.split("+")[0]
    if package == "torch" and "+" not in release:
        return {**rows("pytorch")[release], "archs": "sm_80 sm_90 sm_100 sm_110 sm_120"}
    if package in ("torch", "paddlepaddle-gpu"):
        return rows("torch-builds" if package == "torch" else "paddle-builds").get(release, {})
    table = {
        "tensorflow-gpu": "tensorflow",
        "onnxruntime-gpu": "onnxruntime",
        "jax-cuda12-plugin": "jax",
        "jax-cuda13-plugin": "jax-cuda13",
    }
    if package == "ctranslate2":
        return next(row for key, row in rows(package).items() if public in SpecifierSet(key))
    found = rows(table.get(package, package)) if not package.startswith("cupy") else {}
    return found.get(public) or found.get(minor) or {}


def runs_on(archs: str, gpu: Version, driver: tuple[int, ...], full: str) -> bool:
    major, minor = gpu.parts[:2]
    for word in archs.split():
        found = re.fullmatch(r"(sm|compute)_(\d+)(\d)([af]?)", word)
        assert found, word
        code = (int(found[2]), int(found[3]))
        if found[1] == "sm" and code[0] == major and (code[1] == minor or (code[1] < minor and not found[4])):
            return True
        if found[1] == "compute" and not found[4] and code <= (major, minor) and full and driver >= numbers(full):
            return True
    return False


def works(answer: Answer, gpus: list[Version], driver: str, system: str, python: str) -> list[str]:
    """What is wrong with an answer on a machine of which everything is known; nothing where it works."""
    assert answer.choice
    wrong = []
    row = build_row(answer)
    suffix = "_windows" if system == "windows" else ""
    cuda = answer.choice.cuda
    minors = [key for key in DRIVERS if numbers(key)[: len(numbers(cuda))] == numbers(cuda)]
    least = DRIVERS[minors[0]][f"driver{suffix}"]
    if numbers(driver) < numbers(least):
        wrong.append(f"driver {driver} < {least}")
    full = max((DRIVERS[key].get(f"toolkit_driver{suffix}", "") for key in minors), key=numbers)
    for gpu in gpus:
        if row.get("archs") and not runs_on(row["archs"], gpu, numbers(driver), full):
            wrong.append(f"{gpu} not in {row['archs']}")
        if not row.get("archs"):
            low, high = RANGES[minors[0]]["oldest"], RANGES[minors[0]]["newest"]
            if not numbers(low) <= gpu.parts <= numbers(high):
                wrong.append(f"{gpu} not in CUDA {cuda}")
        brought = ".".join(answer.choice.cudnn.split(".")[:2])
        if brought in CUDNN and gpu.parts < numbers(
            CUDNN[brought].get(f"oldest_cuda{numbers(cuda)[0]}") or CUDNN[brought]["oldest"]
        ):
            wrong.append(f"cuDNN {brought} has no {gpu}")
    package, release = answer.choice.packages[0]
    spans = WHEELS[f"{package} {release.split('+')[0]}"].get(f"{system}-x86_64", "")
    if not any(numbers(part)[1] <= numbers(python)[1] <= numbers(part)[-1] for part in spans.split()):
        wrong.append(f"no wheel for {python} on {system}: {spans}")
    return wrong


GPUS = [key for key in SERVED if numbers(key) >= (3, 5)]
NAMED = {"linux": "", "windows": "_windows"}
SAMPLES = [
    "390.77",
    "418.39",
    "440.33",
    "450.80.02",
    "460.32.03",
    "470.82",
    "520.61.05",
    "525.60.13",
    "535.104.05",
    "550.54.14",
    "570.86.10",
    "580.65.06",
    "595.45.04",
]
PYTHONS = [f"3.{minor}" for minor in range(6, 16)]
INSTALLED = {
    "torch": ["1.8.1+cu111", "1.13.1+cu117", "2.1.0+cu118", "2.6.0+cu124", "2.8.0+cpu", "2.14.0"],
    "tensorflow": ["2.8.0", "2.15.1", "2.20.0"],
    "jax": ["0.4.35", "0.8.0"],
}


def serves(driver: str, gpu: str, system: str) -> bool:
    row = SERVED[gpu]
    return numbers(row[f"oldest{NAMED[system]}"]) <= numbers(driver) and (
        not row.get("newest") or numbers(driver)[0] <= numbers(row["newest"])[0]
    )


machines = st.fixed_dictionaries(
    {
        "gpu": st.sampled_from(GPUS),
        "driver": st.sampled_from(SAMPLES),
        "system": st.sampled_from(["linux", "windows"]),
        "python": st.sampled_from(PYTHONS),
    }
)
frameworks = st.sampled_from(FRAMEWORKS)
wishes = st.sampled_from([{}, {"cuda": "<13"}, {"cuda": ">=12"}, {"cudnn": "9"}])


def anchored(framework: str, pick: int) -> dict[str, str]:
    known = INSTALLED.get(framework, [])
    package = {"jax": "jax-cuda12-plugin"}.get(framework, framework)
    return {package: known[pick % len(known)]} if known and pick else {}


@settings(max_examples=150)
@given(frameworks, machines, wishes, st.integers(0, 6))
def test_every_solution_works_by_an_independent_check(
    framework: str, machine: dict[str, str], keep: dict[str, str], pick: int
) -> None:
    assume(serves(machine["driver"], machine["gpu"], machine["system"]))
    answer = ask(framework, keep, installed=anchored(framework, pick), **machine)
    if answer.choice is None:
        assert answer.status in ("none", "open")
        assert answer.commands == ()
        return
    assert works(answer, [cc(machine["gpu"])], machine["driver"], machine["system"], machine["python"]) == []
    for name, limit in keep.items():
        assert keeps(v(getattr(answer.choice, name)), limit)
    assert answer.commands
    assert answer.choice.release in " ".join(answer.commands)


@settings(max_examples=100)
@given(
    frameworks, machines, st.sets(st.sampled_from(["gpu", "driver", "system", "python"]), min_size=1), st.integers(0, 6)
)
def test_a_solution_holds_whatever_is_not_known(
    framework: str, machine: dict[str, str], hidden: set[str], pick: int
) -> None:
    """Nothing is guessed: what is answered without some facts works on every machine that has them so."""
    assume(serves(machine["driver"], machine["gpu"], machine["system"]))
    installed = anchored(framework, pick)
    if installed and "python" in hidden:  # the machine's Python is one that the installed release has wheels for
        key = f"{next(iter(installed))} {next(iter(installed.values())).split('+')[0]}"
        assume(key in WHEELS)
        spans = " ".join(text for name, text in WHEELS[key].items() if name == f"{machine['system']}-x86_64").split()
        assume(any(numbers(p)[1] <= numbers(machine["python"])[1] <= numbers(p)[-1] for p in spans))
    answer = ask(
        framework, installed=installed, **{name: value for name, value in machine.items() if name not in hidden}
    )
    if answer.status == "solved":
        assert works(answer, [cc(machine["gpu"])], machine["driver"], machine["system"], machine["python"]) == []
    elif answer.status == "open":
        assert answer.choice is None
        assert answer.commands == ()
        assert answer.questions or answer.reasons
        told = {
            "gpu": "compute capability",
            "driver": "driver version",
            "system": "operating system",
            "python": "Python version",
        }
        for question in answer.questions:
            assert any(told[name] in question.fact for name in hidden), question


@settings(max_examples=100)
@given(frameworks, machines, wishes, st.sets(st.sampled_from(["gpu", "driver", "system", "python"])), st.booleans())
def test_asking_for_less_never_yields_none_where_more_yields_some(
    framework: str, machine: dict[str, str], keep: dict[str, str], hidden: set[str], drop: bool
) -> None:
    if ask(framework, keep, **machine).status == "none":
        return
    less = ask(
        framework, {} if drop else keep, **{name: value for name, value in machine.items() if name not in hidden}
    )
    assert less.status != "none"


@settings(max_examples=60)
@given(frameworks, machines, wishes)
def test_what_would_work_if_something_changed_is_complete(
    framework: str, machine: dict[str, str], keep: dict[str, str]
) -> None:
    answer = ask(framework, {**keep, "cuda": "<11"}, **machine)
    if answer.status == "none":
        for option in answer.options:
            assert option.when.startswith("if ")
            assert option.commands
            assert option.choice.release in " ".join(option.commands)


# --- what a person would ask


def test_a_new_gpu_with_an_old_build_gets_the_nearest_release_with_code_for_it() -> None:
    answer = ask(gpu="12.0", driver="570.86.10", system="linux", python="3.11", installed={"torch": "2.6.0+cu124"})
    assert answer.choice
    assert answer.choice.packages == (("torch", "2.7.1+cu128"), ("torchvision", "0.22.1"), ("torchaudio", "2.7.1"))
    assert answer.commands[-1] == (
        "python -m pip install torch==2.7.1 torchvision==0.22.1 torchaudio==2.7.1 --index-url https://download.pytorch.org/whl/cu128"
    )
    reason = next(item.reason for item in answer.rejected if item.build == "torch 2.6.0+cu124")
    assert reason.startswith("no code for compute capability 12.0 (built for sm_50")


def test_it_can_be_sure_without_driver_python_and_system() -> None:
    """A GPU tells how old its driver can be, an installed release which Python there can be."""
    answer = ask(gpu="12.0", installed={"torch": "2.6.0+cu124"})
    assert answer.status == "solved"
    assert answer.choice
    assert answer.choice.release == "2.7.1"


def test_a_driver_that_does_not_know_the_gpu_is_said() -> None:
    answer = ask(gpu="12.0", driver="535.104", system="linux", python="3.11", keep={"torch": "==2.1"})
    assert answer.status == "none"
    assert answer.summary == "Driver 535.104 does not know GPUs of compute capability 12.0: 570 was the first"
    assert any(item.build == "torch 2.1.2+cu121" and "no code" in item.reason for item in answer.rejected)
    assert answer.options[0].when == "if torch need not stay 2.1 and the driver is 570 or newer"


def test_an_old_driver_decides_the_cuda() -> None:
    answer = ask(gpu="8.6", driver="470.82", system="linux", python="3.10")
    assert answer.choice
    assert answer.choice.cuda == "11.8"
    assert any("needs a driver of 525.60.13 (Linux) or newer; here 470.82" in item.reason for item in answer.rejected)


def test_the_newest_cuda_of_a_driver_stands_for_it() -> None:
    answer = ask(gpu="8.6", driver_cuda="11.4", system="linux", python="3.10")
    assert answer.choice
    assert answer.choice.cuda == "11.8"


def test_ptx_needs_a_driver_as_new_as_the_build() -> None:
    """TensorFlow 2.10 has only PTX of 8.0 for an RTX 30; a driver of CUDA 11.0 cannot compile PTX of 11.2."""
    old = ask("tensorflow", {"tensorflow": "2.10"}, "conda", gpu="8.6", driver="455.45.01", system="linux")
    new = ask("tensorflow", {"tensorflow": "2.10"}, "conda", gpu="8.6", driver="460.32.03", system="linux")
    assert old.status == "none"
    assert any("only PTX for compute capability 8.6" in item.reason for item in old.rejected)
    assert new.status == "solved"


def test_forward_compatibility_is_for_data_centre_gpus_only() -> None:
    known = {"gpu": "8.0", "driver": "470.82", "system": "linux", "python": "3.12", "keep": {"torch": "2.8"}}
    told = [option for option in ask(datacenter=True, **known).options if "cuda-compat" in option.when]
    assert told[0].choice.release == "2.8.0"
    assert any(command.startswith("sudo apt-get install -y cuda-compat-12-") for command in told[0].commands)
    assert not any("cuda-compat" in option.when for option in ask(**known).options)


def test_under_wsl_the_driver_is_numbered_as_on_windows() -> None:
    assert ask(gpu="8.6", driver="527.41", system="linux", python="3.12", keep={"cuda": "12"}).status == "solved"
    assert (
        ask(gpu="8.6", driver="527.41", system="linux", python="3.12", keep={"cuda": "12"}, windows_driver=True).status
        == "none"
    )


def test_all_gpus_of_a_machine_must_work() -> None:
    both = ask(gpu="6.1 9.0", driver="550.54.14", system="linux", python="3.11")
    assert both.choice
    assert both.choice.cuda == "12.6"
    assert ask(gpu="3.7 12.0", system="linux", python="3.11").status == "none"


def test_old_gpus_keep_an_old_cudnn() -> None:
    """pip would take the newest cuDNN 9, which has no code for Pascal."""
    assert (
        '"nvidia-cudnn-cu12>=9.8,<9.11"'
        in ask("jax", gpu="6.1", driver="535.104", system="linux", python="3.11").commands[-1]
    )
    assert "cudnn" not in ask("jax", gpu="8.6", driver="535.104", system="linux", python="3.11").commands[-1]


def test_native_windows_has_no_new_tensorflow() -> None:
    answer = ask("tensorflow", gpu="8.6", driver="551.61", system="windows", python="3.11")
    assert answer.status == "none"
    told = [option.when for option in answer.options]
    assert "if conda installs it" in told
    assert "if it runs in WSL2 with Python 3.10 to 3.13" in told


def test_what_would_work_is_told_where_the_gpu_is_not_known_either() -> None:
    """No build works on every GPU, so what is not known is named beside what would have to change, and asked for."""
    answer = ask(python="2.7")
    assert answer.status == "none"
    assert [option.when[:15] for option in answer.options] == ["if conda instal", "if Python is 3."]
    assert all(option.when.endswith(" and the GPU and the driver version allow it") for option in answer.options)
    assert ["compute capability" in answer.questions[0].fact, "driver version" in answer.questions[1].fact] == [
        True,
        True,
    ]
    sure = ask(python="2.7", gpu="8.6")
    assert [option.when[:15] for option in sure.options] == ["if conda instal", "if Python is 3."]
    assert not any("allow" in option.when for option in sure.options)
    assert not sure.questions


def test_macos_and_jetson_have_none() -> None:
    assert ask(gpu="8.6", system="macos", python="3.11").status == "none"
    jetson = ask(gpu="8.6", jetson=True)
    assert jetson.status == "none"
    assert "Jetson" in jetson.rejected[0].reason


def test_a_companion_without_a_wheel_for_the_python_stays_out() -> None:
    """torch 2.5.1 has wheels for Python 3.13 on Linux, torchaudio 2.5.1 has none."""
    known = {"gpu": "8.6", "driver": "535.104", "system": "linux"}
    without, with_it = (ask(keep={"torch": "==2.5.1"}, python=python, **known) for python in ("3.13", "3.12"))
    assert "torchaudio" not in without.commands[-1]
    assert "torchaudio==2.5.1" in with_it.commands[-1]
    assert ask(keep={"torch": "==2.5.1", "torchaudio": "==2.5.1"}, python="3.13", **known).status == "none"


def test_an_older_glibc_is_heeded() -> None:
    old = ask(gpu="8.6", driver="535.104", system="linux", python="3.11", glibc="2.17")
    assert old.choice
    assert old.choice.release == "2.6.0"
    assert not any("glibc" in text for text in old.assumed)


def test_unknown_facts_are_asked_for_and_answered_by_value() -> None:
    answer = ask(gpu="3.7", system="linux", python="3.8")
    assert answer.status == "open"
    assert [question.ask for question in answer.questions] == [
        "nvidia-smi --query-gpu=driver_version --format=csv,noheader"
    ]
    assert answer.options[0].when == "with a driver of 450.80.02 or newer"
    assert answer.options[0].choice.cuda == "11.8"


def test_architectures_that_nobody_read_are_not_guessed() -> None:
    answer = ask("paddle", gpu="8.6", driver="580.82", system="linux", python="3.11")
    assert answer.status == "open"
    assert answer.reasons
    assert "not in the tables" in answer.reasons[0]


def test_aarch64_has_its_own_builds() -> None:
    answer = ask(gpu="9.0", driver="580.82", system="linux", processor="aarch64", python="3.12")
    assert answer.choice
    assert answer.choice.packages[0] == ("torch", "2.15.0")
    assert ask(gpu="9.0", driver="550.54.14", system="linux", processor="aarch64", python="3.12").status == "none"


@pytest.mark.parametrize("manager", ["pip", "uv", "conda"])
def test_commands_for_each_manager(manager: str) -> None:
    answer = ask(gpu="8.6", driver="535.104", system="linux", python="3.11", manager=manager)
    first = {"pip": "python -m pip uninstall", "uv": "uv pip uninstall", "conda": "conda create -y -n torch"}[manager]
    assert answer.commands[0].startswith(first)
    assert all("{" not in command for command in answer.commands)
    assert len(set(answer.commands)) == len(answer.commands)


@pytest.mark.parametrize(
    ("release", "limit", "held"),
    [
        ("2.1.2", "2.1", True),
        ("2.10.0", "2.1", False),
        ("2.1.2", ">=2.0,<2.1", False),
        ("2.1.0+cu118", "==2.1.0+cu121", False),
        ("2.3", "~=2.1", True),
        ("3.0", "~=2.1", False),
        ("1.0", "!=1.0", False),
    ],
)
def test_limits(release: str, limit: str, held: bool) -> None:
    assert keeps(v(release), limit) is held


def test_a_limit_that_is_none_is_an_error() -> None:
    with pytest.raises(LimitError, match="expected a version"):
        limits("newest")


# --- the tables that the solver chooses from


def commands_of(framework: str) -> list[str]:
    return [c for variant in KNOWN.recipes[framework]["variants"] for way in variant["ways"] for c in way["commands"]]


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_recipes_use_only_holes_and_tables_that_exist(framework: str) -> None:
    recipe = KNOWN.recipes[framework]
    holes = {hole for command in commands_of(framework) for hole in re.findall(r"\{([^}]*)\}", command)}
    companions = {
        name for variant in recipe["variants"] for name in (variant["companions"] or {"packages": []})["packages"]
    }
    assert holes <= HOLES | companions | {f"{name}+tag" for name in companions}
    for variant in recipe["variants"]:
        assert not variant["table"] or variant["table"] in KNOWN.table
        assert any(key.startswith(variant["package"] + " ") for key in WHEELS)
    assert all(name in KNOWN.facts for name in recipe["installed"])


def test_every_release_of_torch_pairs_with_releases_that_have_wheels() -> None:
    for torch, row in rows("torch-companions").items():
        assert f"torch {torch}" in WHEELS
        for name in ("torchvision", "torchaudio"):
            assert name not in row or f"{name} {row[name]}" in WHEELS


def test_every_cuda_of_a_build_has_a_driver() -> None:
    for table in ("torch-builds", "tensorflow", "paddle-builds"):
        for row in rows(table).values():
            assert ".".join(row["cuda"].split(".")[:2]) in DRIVERS, row


def test_every_gpu_of_the_tables_has_drivers() -> None:
    desktop = {row["cc"] for row in rows("gpus").values()} - {"3.2", "5.3", "6.2", "7.2", "8.7", "8.8", "11.0"}  # Tegra
    assert desktop <= SERVED.keys()


# --- on the command line, and in reports


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["solve", *words]) == 0
    return capsys.readouterr().out


def test_the_first_line_is_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    told = run(
        capsys,
        "--framework",
        "pytorch",
        "--gpu",
        "RTX 5090",
        "--driver",
        "570.86",
        "--python",
        "3.11",
        "--os",
        "linux",
        "--keep",
        "torch==2.7",
        "--width",
        "90",
    )
    assert told.splitlines()[0] == "PyTorch 2.7.1 with CUDA 12.8 works here"
    assert "  $ python -m pip install torch==2.7.1 " in told


def test_what_is_told_and_to_be_kept_is_one_fact(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--framework", "torch", "--gpu", "8.6", "--os", "linux", "--python", "3.11", "--driver", "550.54.14"]
    kept = ["--keep", "driver==550.54.14", "--keep", "python==3.11"]
    assert run(capsys, *words, *kept) == run(capsys, *words)


def test_json_names_every_rejected_build(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(
        run(
            capsys,
            "--framework",
            "torch",
            "--gpu",
            "8.6",
            "--driver",
            "470.82",
            "--python",
            "3.10",
            "--os",
            "linux",
            "--format",
            "json",
        )
    )
    assert found["status"] == "solved"
    assert found["choice"]["packages"]["torch"] == "2.7.1+cu118"
    assert {"build", "reason"} == set(found["rejected"][0])


def test_facts_come_from_a_log_unless_the_command_line_tells_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "error.log"
    log.write_text(
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\n"
    )
    words = ["--framework", "torch", "--driver", "570.86", "--python", "3.11", "--os", "linux", "--log", str(log)]
    assert "with CUDA 12.8 works here" in run(capsys, *words)
    assert "with CUDA 12.6 works here" in run(capsys, *words, "--gpu", "8.6")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--framework", "mxnet"], "known: ctranslate2"),
        (["--framework", "torch", "--gpu", "Voodoo 2"], "give its compute capability"),
        (["--framework", "torch", "--gpu", "RTX 5090", "--gpu", "banana"], "--gpu banana"),
        (["--framework", "torch", "--gpu", "RTX 5090, GTX 1080"], "repeat --gpu"),
        (["--framework", "torch", "--keep", "torch"], "--keep torch==VERSION"),
        (["--framework", "torch", "--keep", "torch==new"], "expected a version"),
        (["--framework", "torch", "--installed", "torch"], "expected PACKAGE==VERSION"),
        (["--framework", "torch", "--driver", "old"], "expected a version"),
        (["--framework", "torch", "--driver", "99999"], "no NVIDIA driver has that number"),
        (["--framework", "torch", "--driver", "12.8"], "what nvidia-smi calls 'CUDA Version'"),
        (["--framework", "torch", "--gpu", "99.9"], "no GPU has that compute capability; the tables know 2.0,"),
        (["--framework", "torch", "--gpu", "NVIDIA GeForce RTX 5909"], "nearest: RTX 5090"),
        (["--framework", "torch", "--gpu", "4099"], "no GPU of that name in the tables"),
        (["--framework", "torhc"], "nearest: torch; known: ctranslate2"),
        (["--framework", "torch", "--python", "3"], "such as 3.11"),
        (["--framework", "torch", "--python", "3.11", "--keep", "python==3.12"], "give one"),
        (["--framework", "torch", "--log", "/nowhere.log"], "/nowhere.log"),
    ],
)
def test_bad_input_is_explained(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    [
        ["--driver", "535", "570"],
        ["--os", "linux", "wsl"],
        ["--framework", "jax", "torch"],
        ["--manager", "pip", "conda"],
    ],
)
def test_of_two_answers_to_one_question_neither_is_taken(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    name, first, second = option
    with pytest.raises(SystemExit) as end:
        main(["solve", "--framework", "torch", name, first, name, second])
    assert end.value.code == 2
    assert f"{name}: given twice, " in capsys.readouterr().err


def test_what_has_no_builds_at_all_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--framework", "torch", "--os", "macos", "--gpu", "8.6"]) == 0
    told = capsys.readouterr().out.strip()
    assert "CUDA 10.2 (2019) was the last release for macOS" in told
    assert "\n" not in told
    assert ask("torch", processor="riscv64").summary.startswith(
        "There is no PyTorch build with GPU support for riscv64"
    )
    assert "--os wsl" in ask("jax", system="windows").summary


def test_a_gpu_that_came_after_its_cuda_needs_the_driver_that_knows_it() -> None:
    answer = ask("torch", gpu="12.0", driver="570.86", python="3.11", system="linux")
    least = SERVED["12.0"]["oldest"]
    assert any(
        f"on compute capability 12.0 needs a driver of {least} (Linux) or newer" in told for told in answer.reasons
    )
    older = ask("torch", gpu="8.6", driver="570.86", python="3.11", system="linux")
    assert any(re.match(r"CUDA 12.\d needs a driver of 525.60.13 \(Linux\) or newer", told) for told in older.reasons)


def test_a_driver_newer_than_the_tables_is_told() -> None:
    answer = ask("torch", gpu="8.6", driver="650", python="3.11", system="linux")
    assert answer.status == "solved"
    assert any("newer than all in the tables" in told for told in answer.assumed)


LOG = """NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.
RuntimeError: CUDA error: no kernel image is available for execution on the device
"""


def fixes(*facts: Fact) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    best = triage(LOG, facts=facts).diagnoses[0]
    assert best.cause == "gpu-arch-unsupported"
    return [(fix.title, fix.commands, fix.missing) for fix in best.fixes]


def test_a_fix_is_worked_out_where_the_facts_suffice() -> None:
    found = fixes(Fact("torch.version", v("2.6.0+cu124")))
    title, commands, missing = next(item for item in found if item[0].startswith("Install PyTorch"))
    assert title == "Install PyTorch 2.7.1 with CUDA 12.8, torchvision 0.22.1, torchaudio 2.7.1"
    assert "torch==2.7.1" in commands[-1]
    assert missing == ()


def test_a_fix_keeps_what_a_fact_names() -> None:
    log = (
        "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n"
        "    PyTorch 2.1.0+cu121 with CUDA 1201 (you have 2.1.1+cu118)\n    Python  3.10.13 (you have 3.10.9)\n"
    )
    facts = (
        Fact("gpu.cc", cc("8.6")),
        Fact("driver.version", v("535.104.05")),
        Fact("platform.os", "linux"),
        Fact("python.version", v("3.10")),
    )
    best = triage(log, facts=facts).diagnoses[0]
    assert best.cause == "abi-mismatch"
    assert any(
        fix.title.startswith("Install PyTorch 2.1.0 with CUDA 12.1")
        and "torch==2.1.0 torchvision==0.16.0" in fix.commands[-1]
        for fix in best.fixes
    )


def test_a_fix_names_the_missing_fact_where_they_do_not() -> None:
    title, commands, missing = next(item for item in fixes() if "PyTorch" in item[0] and "Install" in item[0])
    assert title == "Install a PyTorch with CUDA 12.8 or newer"
    assert "==" not in commands[-1]
    assert missing == ("Python version: python --version",)


@pytest.mark.parametrize("facts", [(), (Fact("torch.version", v("2.6.0+cu124")),)], ids=["as written", "worked out"])
def test_where_the_environment_is_made_with_uv_no_fix_calls_pip(facts: tuple[Fact, ...]) -> None:
    """Environments that uv makes have no pip, so 'python -m pip' would fail in them."""
    plain = "\n".join(command for _, commands, _ in fixes(*facts) for command in commands)
    found = triage(f"$ uv run train.py\n{LOG}", facts=facts).diagnoses[0].fixes
    with_uv = "\n".join(command for fix in found for command in (*fix.commands, *fix.verify))
    assert "python -m pip install" in plain
    assert "uv pip install" in with_uv
    assert "python -m pip" not in with_uv
