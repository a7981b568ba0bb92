"""What the shipped causes make of readings: each row a log, readings of its machine, and the status that a cause must get."""

from __future__ import annotations

import pytest

from cudnn_triage import triage
from cudnn_triage.facts import Fact
from cudnn_triage.knowledge.base import load
from cudnn_triage.values import read

KNOWLEDGE = load()
NO_DRIVER = {"driver.present": "no", "driver.module": "no", "driver.libcuda": "none", "driver.libraries": "absent"}
PLAIN = {"platform.without": ["container", "wsl", "hosted", "scheduler"], "platform.os": "linux"}

NO_GPUS = "RuntimeError: No CUDA GPUs are available"
FOUND_NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver"
INSUFFICIENT = "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version"
NO_CUDNN = (
    'File "/v/lib/python3.11/site-packages/torch/__init__.py", line 405, in <module>\n    from torch._C import *\n'
)
NO_CUDNN += "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory"
OLDER = "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (9, 0, 0)."
OLDER += " PyTorch already comes bundled with cuDNN."
ORT_CPU = (
    "UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: "
)
ORT_CPU = f"onnxruntime 1.22.0\n{ORT_CPU}'AzureExecutionProvider, CPUExecutionProvider'"
SHM = "RuntimeError: unable to allocate shared memory(shm) for file </torch_29352_1672116762_0>: No space left on device (28)"
BUSY = "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 60.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 20.00 GiB is free."
OOM_SMALL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.00 GiB is free."
ORDINAL = "RuntimeError: CUDA error: invalid device ordinal\ntorch.device('cuda:3')"
ARCH = "nvcc fatal   : Unsupported gpu architecture 'compute_61'"
NVCC = "The detected CUDA version (13.0) mismatches the version that was used to compile\nPyTorch (12.4). Please make sure to use the same CUDA versions."
GCC = "error: #error -- unsupported GNU version! gcc versions later than 15 are not supported!"
NO_HOME = "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root."
HOST = "RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 17179869184 bytes. Error code 12 (Cannot allocate memory)"
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch"
UNKNOWN = "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start."
FABRIC = "RuntimeError: CUDA error: system not yet initialized"
LOST = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus."
SHORT = "ImportError: /v/lib/python3.11/site-packages/torch/lib/../../nvidia/nccl/lib/libnccl.so.2: file too short"

ROWS = [
    # driver
    ("driver-not-loaded", FOUND_NO_DRIVER, {**PLAIN, **NO_DRIVER}, "confirmed"),
    (
        "driver-not-loaded",
        FOUND_NO_DRIVER,
        {**PLAIN, "driver.present": "no", "driver.module": "no", "driver.libcuda": "driver"},
        "confirmed",
    ),
    (
        "driver-not-loaded",
        FOUND_NO_DRIVER,
        {**PLAIN, "driver.present": "yes", "driver.init": "CUDA_SUCCESS"},
        "suspected",
    ),  # it may be loaded since
    ("driver-not-loaded", FOUND_NO_DRIVER, {}, "suspected"),
    ("driver-too-old", INSUFFICIENT, {**PLAIN, **NO_DRIVER}, "refuted"),
    (
        "driver-too-old",
        INSUFFICIENT,
        {**PLAIN, "driver.present": "yes", "cuda.driver": "11.4", "torch.cuda": "12.4"},
        "confirmed",
    ),
    (
        "driver-too-old",
        INSUFFICIENT,
        {**PLAIN, "driver.present": "yes", "cuda.driver": "12.2", "torch.cuda": "12.4"},
        "suspected",
    ),
    (
        "driver-too-old",
        INSUFFICIENT + "\nDriver Version: 470.256.02",
        {**PLAIN, **NO_DRIVER},
        "suspected",
    ),  # the log's machine had a driver
    ("driver-library-mismatch", MISMATCH, {"driver.matches": "no"}, "confirmed"),
    (
        "driver-library-mismatch",
        MISMATCH,
        {"driver.matches": "yes", "driver.init": "CUDA_SUCCESS"},
        "suspected",
    ),  # rebooted since
    ("gpu-not-visible", NO_GPUS, {"env.CUDA_VISIBLE_DEVICES.kind": "none", "gpu.installed": "1"}, "confirmed"),
    ("gpu-not-visible", NO_GPUS, {**PLAIN, **NO_DRIVER}, "refuted"),
    ("gpu-not-visible", NO_GPUS, {"driver.present": "yes", "gpu.installed": "1"}, "suspected"),
    ("device-permission", NO_GPUS, {"driver.present": "yes", "driver.nodes": "denied"}, "confirmed"),
    ("cuda-context-stale", UNKNOWN, {"driver.init": "CUDA_ERROR_UNKNOWN", "nvml.status": "NVML_SUCCESS"}, "confirmed"),
    ("cuda-context-stale", UNKNOWN, {"driver.init": "CUDA_SUCCESS", "nvml.status": "NVML_SUCCESS"}, "suspected"),
    ("fabric-manager-not-running", FABRIC, {"driver.init": "CUDA_ERROR_SYSTEM_NOT_READY"}, "confirmed"),
    ("fabric-manager-not-running", FABRIC, {"driver.switches": "4", "fabric.manager": "yes"}, "suspected"),
    # device and memory
    ("gpu-lost", LOST, {"xid.number": "79"}, "confirmed"),
    ("gpu-lost", LOST, {"xid.number": "13"}, "suspected"),
    ("gpu-busy-exclusive", BUSY, {**PLAIN, "gpu.mode": "exclusive-process"}, "confirmed"),
    ("gpu-busy-exclusive", BUSY, {**PLAIN, "gpu.mode": "default"}, "refuted"),
    ("gpu-busy-exclusive", BUSY, {**PLAIN, "gpu.mode": ["default", "exclusive-process"]}, "confirmed"),
    ("gpu-busy-exclusive", BUSY, {"gpu.mode": "default", "platform.scheduler": "slurm"}, "suspected"),
    ("gpu-out-of-memory", OOM, {"memory.total": "25769803776"}, "confirmed"),
    ("gpu-out-of-memory", OOM_SMALL, {"memory.total": "25769803776"}, "suspected"),
    ("shared-memory-too-small", SHM, {"memory.shm": "67108864"}, "confirmed"),
    ("shared-memory-too-small", SHM, {"memory.shm": "8589934592", "memory.shm.free": "8589934592"}, "suspected"),
    ("host-out-of-memory", HOST, {"memory.ulimit": "12000000000", "limits.unlimited": "memory.cgroup"}, "confirmed"),
    (
        "host-out-of-memory",
        HOST,
        {"limits.unlimited": ["memory.ulimit", "memory.cgroup"], "ram.total": "68719476736", "swap.total": "0"},
        "suspected",
    ),
    # libraries
    ("cudnn-not-found", NO_CUDNN, {"cudnn.present": "no", "library.sound": "yes"}, "confirmed"),
    (
        "cudnn-not-found",
        NO_CUDNN,
        {"cudnn.present": "yes", "library.sound": "yes", "loader.cudnn": "yes", "loader.loaded": "libcudnn.so.9"},
        "refuted",
    ),
    (
        "cudnn-not-found",
        NO_CUDNN,
        {"cudnn.present": "yes", "library.sound": "yes", "loader.cudnn": "yes", "loader.loaded": "libcudnn.so.8"},
        "suspected",
    ),
    ("incomplete-install", NO_CUDNN, {"cudnn.present": "no", "library.sound": "no"}, "confirmed"),
    (
        "cudnn-version-mismatch",
        OLDER,
        {"torch.installed": "yes", "torch.cudnn.accepted": "no", "cudnn.parts.mixed": "no", "library.shadowing": "no"},
        "confirmed",
    ),
    (
        "cudnn-sublibrary-mismatch",
        OLDER,
        {"torch.installed": "yes", "torch.cudnn.accepted": "no", "cudnn.parts.mixed": "yes"},
        "confirmed",
    ),
    (
        "library-shadowing",
        OLDER,
        {"torch.installed": "yes", "torch.cudnn.accepted": "no", "library.shadowing": "yes"},
        "confirmed",
    ),
    ("incomplete-install", SHORT, {"library.sound": "no"}, "confirmed"),
    ("incomplete-install", SHORT, {"library.sound": "yes"}, "suspected"),  # it may have been repaired
    (
        "cpu-only-build",
        ORT_CPU,
        {"onnxruntime.installed": "yes", "onnxruntime.build": "cpu", "packages.conflicting": "no"},
        "confirmed",
    ),
    (
        "conflicting-packages",
        ORT_CPU,
        {"onnxruntime.installed": "yes", "onnxruntime.build": "cpu", "packages.conflicting": "yes"},
        "confirmed",
    ),
    # toolchain
    ("cuda-home-missing", NO_HOME, {"toolkit.nvcc": "no"}, "confirmed"),
    (
        "cuda-home-missing",
        NO_HOME,
        {"toolkit.nvcc": "yes", "toolkit.home": "yes", "toolkit.complete": "yes"},
        "suspected",
    ),
    (
        "arch-flag-unsupported",
        ARCH,
        {"cuda.toolkit": "13.0", "toolkit.cc.min": "7.5", "toolkit.cc.max": "12.1"},
        "confirmed",
    ),
    (
        "arch-flag-unsupported",
        ARCH,
        {"cuda.toolkit": "12.4", "toolkit.cc.min": "5.0", "toolkit.cc.max": "9.0"},
        "suspected",
    ),
    ("toolkit-build-mismatch", NVCC, {"cuda.toolkit": "13.0", "cuda.build": "12.4"}, "confirmed"),
    ("toolkit-build-mismatch", NVCC, {"cuda.toolkit": "12.6", "cuda.build": "12.4"}, "suspected"),
    ("host-compiler-unsupported", GCC, {"toolkit.accepts": "no"}, "confirmed"),
    (
        "host-compiler-unsupported",
        GCC,
        {"toolkit.accepts": "yes"},
        "suspected",
    ),  # the build may have taken another compiler
]


def readings(values: dict[str, str | list[str]]) -> list[Fact]:
    out = []
    for name, texts in values.items():
        kind = KNOWLEDGE.facts[name]["type"]
        for text in texts if isinstance(texts, list) else [texts]:
            typed = int(text) if kind == "size" else read(kind, text)
            assert typed is not None, (name, text)
            out.append(Fact(name, typed, "local"))
    return out


@pytest.mark.parametrize(
    ("cause", "log", "values", "status"), ROWS, ids=[f"{row[0]}-{i}-{row[3]}" for i, row in enumerate(ROWS)]
)
def test_readings_settle_a_cause_or_leave_it(
    cause: str, log: str, values: dict[str, str | list[str]], status: str
) -> None:
    report = triage(log, readings=readings(values), assume_local=True)
    found = {item.cause: item.status for item in report.diagnoses}
    assert found.get(cause) == status, found
    if status == "confirmed":
        assert report.diagnoses[0].status == "confirmed"


@pytest.mark.parametrize("row", [row for row in ROWS if row[3] == "confirmed"], ids=lambda row: row[0])
def test_no_reading_makes_a_fault_of_a_log_without_one(row: tuple[str, str, dict[str, str | list[str]], str]) -> None:
    report = triage(
        "epoch 1 loss 0.31\nepoch 2 loss 0.27\nsaved model.pt\n", readings=readings(row[2]), assume_local=True
    )
    assert not report.diagnoses


def test_every_condition_says_why_in_words_of_its_own() -> None:
    for name, cause in KNOWLEDGE.causes.items():
        reasons = [item["why"] for item in (*cause["confirm"], *cause["refute"])]
        assert all(len(reason.split()) >= 4 for reason in reasons), name
