"""Probe scripts that ask GPUs and frameworks: against an NVML made by a compiler, made-up frameworks, and the real ones where they are installed."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

import machines
from cudnn_triage.probing import bundle
from machines import compiled, examine, files, wheel

COMPILER = pytest.mark.skipif(not machines.has_compiler(), reason="needs gcc on Linux")

# an NVML that answers as the macros say

NVML = r"""
#include <string.h>
#include <stdio.h>
#ifndef COUNT
#define COUNT 1
#endif
#ifndef INIT
#define INIT 0
#endif
#ifndef HANDLE
#define HANDLE 0
#endif
#ifndef ANSWER
#define ANSWER 0
#endif
#ifndef OTHER
#define OTHER 0ULL
#endif
#ifndef MODE
#define MODE 0
#endif
#ifndef ROWS_FAILED
#define ROWS_FAILED 0
#endif
#ifndef UNCORRECTED
#define UNCORRECTED 0ULL
#endif
#ifndef WIDTH
#define WIDTH 16
#endif
#ifndef THROTTLE
#define THROTTLE 1ULL
#endif
#ifndef PID
#define PID 4000000
#endif
typedef unsigned int u; typedef unsigned long long ull;
int nvmlInit_v2(void) { return INIT; }
int nvmlInitWithFlags(u f) { return INIT; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int s) { return "an error"; }
int nvmlSystemGetDriverVersion(char *t, u n) { strcpy(t, "550.54.14"); return 0; }
int nvmlSystemGetNVMLVersion(char *t, u n) { strcpy(t, "12.550.54.14"); return 0; }
int nvmlSystemGetCudaDriverVersion_v2(int *v) { *v = 12040; return 0; }
int nvmlSystemGetCudaDriverVersion(int *v) { *v = 12040; return 0; }
int nvmlDeviceGetCount_v2(u *n) { *n = COUNT; return 0; }
int nvmlDeviceGetHandleByIndex_v2(u i, void **h) { *h = (void *)(unsigned long)(i + 1); return HANDLE; }
int nvmlDeviceGetName(void *h, char *t, u n) { strcpy(t, "NVIDIA H100"); return ANSWER; }
int nvmlDeviceGetUUID(void *h, char *t, u n) { sprintf(t, "GPU-%04lu", (unsigned long)h - 1); return ANSWER; }
int nvmlDeviceGetCudaComputeCapability(void *h, int *a, int *b) { *a = 9; *b = 0; return ANSWER; }
int nvmlDeviceGetMemoryInfo(void *h, ull *m) { m[0] = 80ULL << 30; m[1] = (79ULL << 30) - OTHER; m[2] = (1ULL << 30) + OTHER; return ANSWER; }
int nvmlDeviceGetComputeMode(void *h, u *m) { *m = MODE; return ANSWER; }
int nvmlDeviceGetPersistenceMode(void *h, u *m) { *m = 1; return ANSWER; }
int nvmlDeviceGetEccMode(void *h, u *a, u *b) { *a = 1; *b = 1; return ANSWER; }
int nvmlDeviceGetTotalEccErrors(void *h, u kind, u span, ull *n) { *n = kind == 1 ? UNCORRECTED : 3; return ANSWER; }
int nvmlDeviceGetRemappedRows(void *h, u *a, u *b, u *c, u *d) { *a = 0; *b = 1; *c = 0; *d = ROWS_FAILED; return ANSWER; }
int nvmlDeviceGetTemperature(void *h, u s, u *t) { *t = 41; return ANSWER; }
int nvmlDeviceGetPowerUsage(void *h, u *p) { *p = 71500; return ANSWER; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *h, ull *r) { *r = THROTTLE; return ANSWER; }
int nvmlDeviceGetCurrPcieLinkWidth(void *h, u *w) { *w = WIDTH; return ANSWER; }
int nvmlDeviceGetMaxPcieLinkWidth(void *h, u *w) { *w = 16; return ANSWER; }
int nvmlDeviceGetMigMode(void *h, u *a, u *b) { *a = 0; *b = 0; return ANSWER; }
int nvmlDeviceGetNvLinkState(void *h, u l, u *s) { if (l > 3) return 2; *s = l != 2; return ANSWER; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *h, u *n, void *p) {
  struct { u pid; ull memory; u a, b; } *list = p;
  if (OTHER == 0) { *n = 0; return ANSWER; }
  if (!p) { *n = 1; return 7; }
  *n = 1; list[0].pid = PID; list[0].memory = OTHER; list[0].a = list[0].b = 0;
  return ANSWER;
}
"""


def ask(tmp_path: Path, *macros: str, environ: dict[str, str] | None = None) -> machines.Said:
    """The nvml probe against an NVML of these macros."""
    folder = tmp_path / "-".join(macros).replace("/", "") / "lib"
    compiled(folder / "libnvidia-ml.so.1", NVML, *(f"-D{macro}" for macro in macros))
    return examine("nvml", environ={"LD_LIBRARY_PATH": str(folder), **(environ or {})})


@COMPILER
def test_healthy_gpu(tmp_path: Path) -> None:
    said = ask(tmp_path)
    assert (said.one("nvml.status"), said.one("driver.version"), said.one("cuda.driver")) == (
        "NVML_SUCCESS",
        "550.54.14",
        "12.4",
    )
    assert (said.one("gpu.installed"), said.one("gpu.name"), said.one("gpu.cc"), said.one("gpu.uuid")) == (
        1,
        "NVIDIA H100",
        "9.0",
        "GPU-0000",
    )
    assert (said.one("memory.total"), said.one("memory.free"), said.one("memory.used")) == (80 << 30, 79 << 30, 1 << 30)
    assert (said.one("memory.other"), said.one("gpu.processes"), said.one("gpu.memory.unattributed")) == (0, 0, 1 << 30)
    assert (said.one("gpu.lost"), said.one("gpu.mode"), said.one("gpu.persistence"), said.one("gpu.mig")) == (
        "no",
        "default",
        "yes",
        "off",
    )
    assert (said.one("gpu.ecc"), said.one("gpu.ecc.uncorrected"), said.one("gpu.remap.failed")) == ("on", 0, "no")
    assert (said.one("gpu.pcie.width"), said.one("gpu.pcie.narrow"), said.one("gpu.throttle")) == (16, "no", "idle")
    assert (said.one("gpu.temperature"), said.one("gpu.power")) == (41, 71.5)
    assert (said.one("nvlink.up"), said.one("nvlink.down")) == (3, 1)


@COMPILER
def test_what_the_driver_does_not_answer_is_not_a_reading(tmp_path: Path) -> None:
    said = ask(tmp_path, "ANSWER=3")
    assert said.one("gpu.installed") == 1
    for name in (
        "gpu.name",
        "memory.total",
        "memory.other",
        "gpu.mode",
        "gpu.ecc",
        "gpu.remap.failed",
        "gpu.mig",
        "gpu.throttle",
        "nvlink.up",
    ):
        assert said.one(name) is None, name
    assert said.one("gpu.lost") == "no"


@COMPILER
def test_memory_held_by_another_process(tmp_path: Path) -> None:
    said = ask(tmp_path, f"PID={os.getpid()}", f"OTHER={60 << 30}ULL")
    assert (said.one("memory.other"), said.one("gpu.processes")) == (60 << 30, 1)
    process = said.records("gpu")[0]["processes"][0]
    assert (process["pid"], process["memory"]) == (os.getpid(), 60 << 30)
    assert process["name"]
    assert process["user"]
    assert said.one("gpu.holder").startswith(f"pid {os.getpid()} ")


@COMPILER
def test_process_of_another_name_space(tmp_path: Path) -> None:
    process = ask(tmp_path, "PID=4000000", f"OTHER={1 << 30}ULL").records("gpu")[0]["processes"][0]
    assert (process["pid"], process["user"], process["name"]) == (4000000, None, None)


@COMPILER
@pytest.mark.parametrize(
    ("macro", "name", "value"),
    [
        ("MODE=3", "gpu.mode", "exclusive-process"), ("MODE=2", "gpu.mode", "prohibited"), ("ROWS_FAILED=1", "gpu.remap.failed", "yes"),
        ("UNCORRECTED=4ULL", "gpu.ecc.uncorrected", 4), ("WIDTH=4", "gpu.pcie.narrow", "yes"), ("THROTTLE=0ULL", "gpu.throttle", "none"),
        ("THROTTLE=0x40ULL", "gpu.throttle", "hardware-thermal"), ("ANSWER=15", "gpu.lost", "yes"), ("HANDLE=15", "gpu.lost", "yes"),
        ("HANDLE=4", "gpu.error", "NVML_ERROR_NO_PERMISSION"), ("INIT=18", "nvml.status", "NVML_ERROR_LIB_RM_VERSION_MISMATCH"),
        ("INIT=9", "nvml.status", "NVML_ERROR_DRIVER_NOT_LOADED"), ("COUNT=0", "gpu.installed", 0),
    ],
)  # fmt: skip
def test_faults(macro: str, name: str, value: object, tmp_path: Path) -> None:
    assert ask(tmp_path, macro).one(name) == value


@COMPILER
def test_driver_that_does_not_start_says_nothing_of_gpus(tmp_path: Path) -> None:
    said = ask(tmp_path, "INIT=18")
    assert (said.one("gpu.installed"), said.one("driver.version"), said.one("nvml.library")) == (None, None, "yes")
    assert said.absent == ""


@pytest.mark.skipif(machines.opens("libnvidia-ml.so.1"), reason="there is a driver")
def test_no_nvml() -> None:
    said = examine("nvml")
    assert (said.one("nvml.status"), said.one("nvml.library")) == ("NVML_ERROR_LIBRARY_NOT_FOUND", "no")
    assert "no NVIDIA driver" in said.absent


@COMPILER
def test_thousand_gpus(tmp_path: Path) -> None:
    said = ask(tmp_path, "COUNT=1000")
    assert said.one("gpu.installed") == 1000
    assert len(said.records("gpu")) == 1000
    assert len(said.all("gpu.uuid")) == 1000
    assert said.all("gpu.name") == ["NVIDIA H100"]
    assert sum(len(json.dumps(line)) for line in said.lines) < 4 << 20


@COMPILER
@pytest.mark.parametrize(
    ("value", "missing"),
    [("0,1", []), ("0,7", ["7"]), ("GPU-0001", []), ("GPU-9999", ["GPU-9999"]), ("-1", []), ("", [])],
)
def test_devices_that_are_named_and_not_there(value: str, missing: list[str], tmp_path: Path) -> None:
    said = ask(tmp_path, "COUNT=2", environ={"CUDA_VISIBLE_DEVICES": value})
    assert said.all("gpu.visible.missing") == missing


@COMPILER
def test_nvml_that_crashes_leaves_what_was_read(tmp_path: Path) -> None:
    source = NVML.replace('strcpy(t, "NVIDIA H100"); return ANSWER;', "return *(volatile int *)0;")
    compiled(tmp_path / "libnvidia-ml.so.1", source)
    said = examine("nvml", environ={"LD_LIBRARY_PATH": str(tmp_path)}, whole=False)
    assert said.code < 0
    assert (said.one("driver.version"), said.stages[-1]) == ("550.54.14", "GPU 0")


# frameworks that are made up: what they would do is told by environment variables

TORCH = """
import os, sys, types
__version__ = "2.4.0+cu121"
broken = os.environ.get("BROKEN", "").split(",")
version = types.SimpleNamespace(cuda=os.environ.get("CUDA") or None, hip=None, git_version="0")


class Tensor:
    def __init__(self, *a, **k): self.grad, self.value = self, 128.0
    def __getattr__(self, name): return lambda *a, **k: self
    def __add__(self, other): return self
    def __matmul__(self, other): self.value = 32768.0; return self
    def item(self): return self.value


def ones(*a, **k): return Tensor()
def isfinite(t): return Tensor()
def manual_seed(n): pass


class Layer(Tensor):
    name = ""
    def to(self, device):
        on = device != "cpu"
        if on and self.name + (".cudnn" if backends.cudnn.on else "") in broken:
            if "memory" in broken:
                raise RuntimeError("CUDA out of memory. Tried to allocate 128.00 MiB.")
            if "crash" in broken:
                os.write(2, b"terminate called after throwing an instance of 'c10::Error'\\n")
                os.kill(os.getpid(), 11)
            raise RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED" if backends.cudnn.on else "CUDA error: no kernel image; search for `cudaErrorNoKernelImageForDevice' in the documentation")
        return self
    def __call__(self, *a): return (Tensor(), None) if self.name == "rnn" else Tensor()
    weight_ih_l0 = Tensor()


class Conv2d(Layer): name = "conv"
class LSTM(Layer): name = "rnn"
nn = types.SimpleNamespace(Conv2d=Conv2d, LSTM=LSTM)


class Flags:
    on = True
    def flags(self, enabled):
        import contextlib
        @contextlib.contextmanager
        def off():
            self.on = enabled
            yield
            self.on = True
        return off()
    def version(self):
        if "version" in broken:
            raise RuntimeError("cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime version (8, 9, 2).")
        return 90100


backends = types.SimpleNamespace(cudnn=Flags())
_C = types.SimpleNamespace(_cuda_getArchFlags=lambda: "sm_50 sm_80 sm_86 sm_90")
if version.cuda:
    loaded = (8, 9, 2) if "version" in broken else (9, 1, 0)
    _C._cudnn = types.SimpleNamespace(getCompileVersion=lambda: (9, 1, 0), getRuntimeVersion=lambda: loaded)


def init():
    raise RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU")


capability = tuple(map(int, os.environ.get("CC", "8.6").split(".")))
cuda = types.SimpleNamespace(
    is_available=lambda: bool(os.environ.get("GPU")), device_count=lambda: 1, get_device_name=lambda i: "NVIDIA A10",
    get_device_capability=lambda i: capability, get_arch_list=lambda: ["sm_50", "sm_80", "sm_86", "sm_90"] if os.environ.get("GPU") else [],
    init=init, get_device_properties=lambda i: types.SimpleNamespace(total_memory=24 << 30), mem_get_info=lambda i: (20 << 30, 24 << 30),
    set_per_process_memory_fraction=lambda f, i: print("fraction", f, file=sys.stderr),
    nccl=types.SimpleNamespace(version=lambda: (2, 20, 5)),
)
if "import" in broken:
    raise ImportError("libcudnn.so.9: cannot open shared object file: No such file or directory")
"""


def torch(tmp_path: Path, whole: bool = True, **environ: str) -> machines.Said:
    """The torch probe with a made-up torch."""
    files(tmp_path, {"torch/__init__.py": TORCH})
    return examine("torch", environ={"PYTHONPATH": str(tmp_path), **environ}, flags=["-S"], whole=whole)


def test_no_torch() -> None:
    said = examine("torch", flags=["-S"])
    assert (said.one("torch.installed"), said.one("torch.build")) == ("no", None)
    assert "torch is not installed" in said.absent


def test_cpu_build(tmp_path: Path) -> None:
    said = torch(tmp_path)
    assert (said.one("torch.build"), said.one("torch.cudnn"), said.one("torch.gpu")) == ("cpu", "no", "no")
    assert (said.one("cuda.build"), said.one("torch.kernel"), said.one("torch.fault")) == (None, None, None)


def test_cuda_build_without_gpu(tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1")
    assert (said.one("torch.build"), said.one("cuda.build"), said.one("torch.gpu")) == ("cuda", "12.1", "no")
    assert (said.one("torch.cudnn.compiled"), said.one("torch.cudnn.loaded"), said.one("torch.cudnn.accepted")) == (
        "9.1.0",
        "9.1.0",
        "yes",
    )
    assert said.one("build.archs") == "sm_50 sm_80 sm_86 sm_90"
    assert (said.one("build.cc.min"), said.one("build.cc.max"), said.one("torch.serves")) == ("5.0", "9.0", None)
    assert said.one("torch.init.error").startswith("Found no NVIDIA driver")
    assert said.one("torch.kernel") is None


def test_healthy_gpu_build(tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1", GPU="1")
    assert (said.one("torch.gpu"), said.one("gpu.name"), said.one("gpu.cc"), said.one("torch.serves")) == (
        "yes",
        "NVIDIA A10",
        "8.6",
        "yes",
    )
    for name in ("kernel", "matmul", "conv.plain", "rnn.plain", "conv", "rnn"):
        assert said.one("torch." + name) == "ok", name
    assert said.one("torch.fault") == "none"
    assert said.stages.index("torch.conv.plain") < said.stages.index("torch.conv")


def test_memory_is_capped(tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1", GPU="1")
    fraction = float(said.errors.split("fraction ")[1].split()[0])
    assert fraction * (24 << 30) <= machines.knowledge().probes["torch"]["gpu_memory"]


def test_cudnn_at_fault(tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1", GPU="1", BROKEN="conv.cudnn")
    assert (said.one("torch.conv.plain"), said.one("torch.conv"), said.one("torch.fault")) == ("ok", "failed", "cudnn")
    assert said.one("torch.error.code") == "CUDNN_STATUS_EXECUTION_FAILED"
    assert "CUDNN_STATUS_EXECUTION_FAILED" in said.messages


def test_cuda_at_fault(tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1", GPU="1", BROKEN="conv,conv.cudnn")
    assert (said.one("torch.conv.plain"), said.one("torch.conv"), said.one("torch.fault")) == (
        "failed",
        "failed",
        "cuda",
    )
    assert "cudaErrorNoKernelImageForDevice" in said.all("torch.error.code")


def test_crash_in_cudnn_comes_after_the_plain_trial(tmp_path: Path) -> None:
    said = torch(tmp_path, whole=False, CUDA="12.1", GPU="1", BROKEN="crash,conv.cudnn")
    assert said.code == -11
    if hasattr(os, "memfd_create"):
        assert "terminate called" in said.messages
        assert "terminate called" in said.errors
    assert (said.stages[-1], said.one("torch.conv.plain"), said.one("torch.conv")) == ("torch.conv", "ok", None)


@pytest.mark.parametrize(("where", "fault"), [("conv.cudnn", None), ("conv,conv.cudnn", None), ("rnn.cudnn", None)])
def test_too_little_memory_is_no_fault(where: str, fault: str | None, tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1", GPU="1", BROKEN=where + ",memory")
    assert said.one("torch.fault") is fault
    assert said.one("torch." + where.split(".")[0].split(",")[0]) == "no-memory"


def test_cudnn_that_torch_refuses(tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1", BROKEN="version")
    assert (said.one("torch.cudnn.accepted"), said.one("torch.cudnn.loaded")) == ("no", "8.9.2")
    assert "version incompatibility" in said.messages


def test_import_that_fails(tmp_path: Path) -> None:
    said = torch(tmp_path, CUDA="12.1", BROKEN="import")
    assert (said.one("torch.imports"), said.one("torch.build")) == ("no", None)
    assert said.one("torch.error").startswith("ImportError: libcudnn.so.9")
    assert "libcudnn.so.9: cannot open shared object file" in said.messages


def test_gpu_that_the_build_has_no_code_for(tmp_path: Path) -> None:
    assert torch(tmp_path, CUDA="12.1", GPU="1", CC="12.0").one("torch.serves") == "no"
    assert torch(tmp_path, CUDA="12.1", GPU="1", CC="8.9").one("torch.serves") == "yes"


TRIALS = {"__name__": "probe"}
exec(compile(bundle.program("torch", machines.knowledge()), "torch", "exec"), TRIALS)


@pytest.mark.parametrize(
    ("archs", "gpu", "answer"),
    [
        ("sm_80", (8, 6), True), ("sm_86", (8, 0), False), ("sm_80", (9, 0), False), ("sm_80 compute_80", (9, 0), True),
        ("sm_90a", (9, 0), True), ("sm_90a", (10, 0), False), ("sm_100 sm_120", (12, 0), True), ("sm_100", (12, 0), False),
        ("compute_120", (10, 0), False), ("compute_90a", (10, 0), False), ("", (8, 0), False),
    ],
)  # fmt: skip
def test_which_gpus_a_build_serves(archs: str, gpu: tuple[int, int], answer: bool) -> None:
    assert TRIALS["serves"](archs.split(), gpu) is answer  # type: ignore[operator]


def jax(tmp_path: Path, **versions: str) -> machines.Said:
    for name, version in versions.items():
        wheel(tmp_path, name.replace("_", "-"), version)
    return examine("jax", environ={"PYTHONPATH": str(tmp_path)}, flags=["-S"])


def test_jax_and_its_plugin(tmp_path: Path) -> None:
    alike = jax(tmp_path / "a", jax="0.5.0", jaxlib="0.5.0", jax_cuda12_plugin="0.5.0", jax_cuda12_pjrt="0.5.0")
    assert (alike.one("jax.plugin.matches"), alike.one("jax.build"), alike.one("jax.cuda.major")) == ("yes", "cuda", 12)
    skewed = jax(tmp_path / "b", jax="0.5.0", jaxlib="0.5.0", jax_cuda12_plugin="0.4.38", jax_cuda12_pjrt="0.4.38")
    assert (skewed.one("jax.plugin.matches"), skewed.one("plugin.version")) == ("no", "0.4.38")
    cpu = jax(tmp_path / "c", jax="0.5.0", jaxlib="0.5.0")
    assert (cpu.one("jax.plugin.matches"), cpu.one("jax.build"), cpu.one("jax.plugin.installed")) == (None, "cpu", "no")


def test_folder_left_behind_by_another_onnxruntime(tmp_path: Path) -> None:
    files(tmp_path, {"onnxruntime/capi/x.so": ""})
    said = examine("onnxruntime", environ={"PYTHONPATH": str(tmp_path)}, flags=["-S"])
    assert "no" in said.all("onnxruntime.imports")
    assert said.one("onnxruntime.build") is None


ORT = """
import os
__version__ = "1.20.0"
class SessionOptions: pass
def get_available_providers(): return ["CUDAExecutionProvider", "CPUExecutionProvider"]
class InferenceSession:
    def __init__(self, data, options, providers):
        self.gpu = isinstance(providers[0], tuple) and os.environ.get("WORKS") == "1"
        if isinstance(providers[0], tuple) and not self.gpu:
            os.write(2, b"Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open shared object file\\n")
    def get_providers(self): return ["CUDAExecutionProvider"] if self.gpu else ["CPUExecutionProvider"]
    def run(self, names, feed): return [feed["x"]]
"""
NUMPY = (
    "float32 = 0\nclass A:\n    def all(self): return True\ndef ones(s, dtype): return A()\ndef isfinite(a): return a\n"
)


def test_onnxruntime_that_falls_back_to_the_processor(tmp_path: Path) -> None:
    files(tmp_path, {"onnxruntime/__init__.py": ORT, "numpy.py": NUMPY})
    files(
        tmp_path,
        {
            "onnxruntime/capi/build_and_package_info.py": "cuda_version = '12.4'\npackage_name = 'onnxruntime-gpu'\n",
            "onnxruntime/capi/__init__.py": "",
        },
    )
    environ = {"PYTHONPATH": str(tmp_path)}
    said = examine("onnxruntime", environ=environ, flags=["-S"])
    assert (said.one("onnxruntime.build"), said.one("onnxruntime.cuda"), said.one("onnxruntime.gpu")) == (
        "cuda",
        "12.4",
        "no",
    )
    if hasattr(os, "memfd_create"):
        assert "libcublasLt.so.12" in said.messages
    works = examine("onnxruntime", environ={**environ, "WORKS": "1"}, flags=["-S"])
    assert (works.one("onnxruntime.gpu"), works.one("onnxruntime.conv"), works.one("onnxruntime.fault")) == (
        "yes",
        "ok",
        "none",
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="extensions are tried in child processes")
def test_extensions_each_by_itself(tmp_path: Path) -> None:
    files(tmp_path, {
        "torch/__init__.py": "", "torchvision/__init__.py": "x = 1\n", "amp_C.py": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n",
        "flash_attn_2_cuda.py": "raise ImportError('flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2E')\n",
        "xformers/__init__.py": "", "xformers/cpp_lib.json": json.dumps({"version": {"cuda": 1204, "torch": "2.5.1+cu124"}}),
    })  # fmt: skip
    said = examine("extensions", environ={"PYTHONPATH": str(tmp_path)}, flags=["-S"])
    assert set(said.all("extension.loaded")) == {"torchvision", "xformers"}
    assert set(said.all("extension.failed")) == {"flash-attn", "apex"}
    assert (said.one("extension.torch"), said.one("extension.cuda")) == ("2.5.1+cu124", "12.4")
    assert (said.one("probe.extensions.crashed"), said.one("probe.extensions.stage")) == ("SIGSEGV", "import amp_C")
    assert "undefined symbol" in said.messages
    files(tmp_path / "none", {"torch/__init__.py": ""})
    assert (
        examine("extensions", environ={"PYTHONPATH": str(tmp_path / "none")}, flags=["-S"]).one("extension.found")
        == "no"
    )


# the real ones, where the interpreter named by CUDNN_TRIAGE_FRAMEWORKS_PYTHON (else this one) has them

PYTHON = os.environ.get("CUDNN_TRIAGE_FRAMEWORKS_PYTHON", sys.executable)


@pytest.mark.parametrize("name", ["torch", "tensorflow", "jax", "onnxruntime"])
def test_real_framework(name: str) -> None:
    if sys.executable == PYTHON and importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    said = examine(name, python=PYTHON)
    if said.absent:
        pytest.skip(said.absent)
    assert said.one(f"{name}.imports") == "yes"
    assert said.one(f"{name}.version")
    assert said.one(f"{name}.build") in {"cpu", "cuda", "rocm"}
    assert said.one(f"{name}.cpu") == "ok"
    assert said.one(f"{name}.gpu") in {"yes", "no"}
    if said.one(f"{name}.gpu") == "no":
        assert said.one(f"{name}.kernel") is None


def test_models_that_are_written_by_hand() -> None:
    """Every model of the ONNX Runtime probe runs on the real thing."""
    run = "def main():\n    ort = imported('onnxruntime')\n    for name in models() if ort else []:\n        trial('onnxruntime.' + name, lambda: compute(ort, name, ['CPUExecutionProvider'], 'CPUExecutionProvider'))\n"
    said = examine("onnxruntime", python=PYTHON, before=run)
    if said.absent:
        pytest.skip(said.absent)
    assert {name: said.one("onnxruntime." + name) for name in ("kernel", "matmul", "conv", "rnn")} == dict.fromkeys(
        ("kernel", "matmul", "conv", "rnn"), "ok"
    )
