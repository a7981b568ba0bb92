"""What a person is told in each environment: commands that cannot run there are found, and the shipped ones are none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import script
from cudnn_triage.engine import Triager
from cudnn_triage.knowledge.base import load
from cudnn_triage.knowledge.yamlfile import load as load_yaml
from cudnn_triage.report import FixItem

measure_fixes = script("measure_fixes")
Environment, Refusal = measure_fixes.Environment, measure_fixes.Refusal
cells, counts, details = measure_fixes.cells, measure_fixes.counts, measure_fixes.details
environments, matrix, table = measure_fixes.environments, measure_fixes.matrix, measure_fixes.table

KNOWLEDGE = load()
TRIAGER = Triager(KNOWLEDGE)
FILE = Path(measure_fixes.__file__).with_name("environments.yaml")
PLACES = {place.id: place for place in environments(FILE, KNOWLEDGE)}


def item(command: str, title: str = "Do it", applies: str = "") -> FixItem:
    return FixItem(title, "reversible", (command,), applies, (), "")


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("windows", "sudo apt-get install -y gcc"),
        ("windows", "export CUDA_HOME=/usr/local/cuda"),
        ("windows", "python -m pip install torch   # or another"),
        ("windows", "python -c 'import torch'"),
        ("uv", "python -m pip install torch"),
        ("dnf", "sudo apt-get install -y gcc"),
        ("apt", "sudo dnf install -y gcc"),
        ("docker", "sudo modprobe nvidia"),
        ("k8s", "docker run --rm --gpus all ubuntu nvidia-smi"),
        ("podman", "docker run --rm --gpus all ubuntu nvidia-smi"),
        ("colab", "export CUDA_VISIBLE_DEVICES=0"),
        ("colab", "sudo reboot"),
        ("colab", "python -m pip install torch"),
        ("jetson", "python -m pip install torch --index-url https://download.pytorch.org/whl/cu128"),
        ("pip", "wsl --shutdown"),
    ],
)
def test_a_command_that_cannot_run_there_is_refused(place: str, command: str) -> None:
    assert list(PLACES[place].refused(item(command)))


@pytest.mark.parametrize(
    ("place", "command", "title", "applies"),
    [
        ("windows", "python -m pip install torch", "Install", ""),
        ("windows", "sudo apt-get install -y gcc", "Run it in WSL2", ""),
        ("windows", "# sudo is not needed", "Install", ""),
        ("uv", "uv pip install torch", "Install", ""),
        ("docker", "sudo modprobe nvidia", "Load the module", "the host, administrator"),
        ("docker", "docker run ubuntu sh -c 'sudo modprobe nvidia'", "Look", ""),
        ("pip", "sudo apt-get install -y gcc", "Install", ""),
        ("colab", "!ls /usr/local/cuda   # no export here", "Look", ""),
        ("colab", "import torch; torch.zeros(1)", "Look", ""),
    ],
)
def test_what_can_run_there_or_is_for_elsewhere_is_not(place: str, command: str, title: str, applies: str) -> None:
    assert not list(PLACES[place].refused(item(command, title, applies)))


def test_the_file_names_causes_and_environments_that_exist() -> None:
    data = load_yaml(FILE).data
    assert set(data["impossible"]) <= set(KNOWLEDGE.causes)
    assert {place for places in data["impossible"].values() for place in places} <= set(PLACES)
    assert {place for refusal in data["refusals"] for place in refusal["in"]} <= set(PLACES)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "group"
    folder.mkdir()
    for name, text in (
        ("anywhere", "AssertionError: Torch not compiled with CUDA enabled"),
        ("windows", "C:\\Users\\x\\t.py\nAssertionError: Torch not compiled with CUDA enabled"),
    ):
        (folder / f"{name}.log").write_text(text)
        label = "source: x\nread: '2026-11-22'\nconfirmed: lab\ngold: [cpu-only-build]\nacceptable: []\nstack: torch\nversions: {}\nwhy: x\n"
        (folder / f"{name}.yaml").write_text(label)
    return folder.parent


def test_every_environment_of_a_cause_is_told_what_can_run_there(corpus: Path) -> None:
    rows = matrix(TRIAGER, corpus, ["cpu-only-build", "colab-runtime-changed"], list(PLACES.values()))
    told = {place: cell for cause, place, cell in cells(rows) if cause == "cpu-only-build"}
    assert set(told) == set(PLACES)
    assert all(cell.worst.count and not cell.refused for cell in told.values())
    assert told["uv"].worst.first == told["jetson"].worst.first == "*"
    assert told["pip"].worst.first == ""
    assert rows["colab-runtime-changed"]["pip"] is None
    lines = list(table(rows))
    assert re.search(r"colab-runtime-changed +- +-", lines[2])
    assert counts(told.values()).startswith("15 cells that can occur: 0 without a fix that has commands")


def test_what_is_wrong_is_listed_with_the_log_that_shows_it(corpus: Path) -> None:
    never = Refusal(re.compile("pip"), None, "no pip there", whole=False)
    place = Environment("moon", PLACES["pip"].facts, frozenset(), frozenset(), (never,))
    rows = matrix(TRIAGER, corpus, ["cpu-only-build"], [place])
    listed = list(details(rows))
    assert listed
    assert all("no pip there: moon (group/anywhere)" in text for text in listed)
    assert "commands that cannot run in 1" in counts(cell for _, _, cell in cells(rows))


def test_the_script_knows_a_command_from_an_observation() -> None:
    assert measure_fixes._COMMAND.match("nvidia-smi -L")
    assert measure_fixes._COMMAND.match('python -c "import torch"')
    assert not measure_fixes._COMMAND.match("the program runs")
