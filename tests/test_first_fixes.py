"""The first fix of the shipped causes is one that can be run where the log comes from: a cure where the log tells, in the
words of its system, package manager and platform."""

from __future__ import annotations

import re

import pytest

from cudnn_triage import triage
from cudnn_triage.facts import Fact, Facts
from cudnn_triage.fixes import ready
from cudnn_triage.knowledge.base import load

KNOWLEDGE = load()

NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver"
NOT_COMPILED = "AssertionError: Torch not compiled with CUDA enabled"
NO_KERNEL = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
UNKNOWN = "RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start."
MODULE = "Error! Bad return status for module build on kernel: {} (x86_64)\nConsult /var/lib/dkms/nvidia/545.29.02/build/make.log for more information."
PERMISSIONS = "Failed to initialize NVML: Insufficient Permissions"
OTHERS = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which "
    "1.00 GiB is free. Process 2451 has 18.00 GiB memory in use. Including non-PyTorch memory, this process has 4.30 GiB memory in use."
)
TF_WINDOWS = (
    "C:\\Users\\x\\t.py\nCould not load dynamic library 'cudart64_110.dll'; dlerror: cudart64_110.dll not found"
)
JAX_PAIR = 'File "C:\\env\\Lib\\site-packages\\jax\\__init__.py", line 1\n'
JAX_PAIR += "RuntimeError: jaxlib version 0.4.30 is newer than and incompatible with jax version 0.4.20. Please update your jax."
LABEL = "nll_loss.cu:104: block: [0,0,0], thread: [3,0,0] Assertion `t >= 0 && t < n_classes` failed.\n"
LABEL += "RuntimeError: CUDA error: device-side assert triggered"
TORCHVISION = "RuntimeError: operator torchvision::nms does not exist"
WSL = "LD_LIBRARY_PATH=/usr/lib/wsl/lib\n"
NO_DEVICES = "No devices were found"
JULIA = 'could not load library "C:\\Users\\x\\.julia\\artifacts\\d1e2f396\\bin\\cudnn_ops_infer64_8.dll"\nAccess is denied.'
LIBDEVICE = (
    "Can't find libdevice directory ${CUDA_DIR}/nvvm/libdevice. This may result in compilation or runtime failures"
)

NO_SERVER = "tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server"
FROZEN = "Could not locate cudnn_ops64_9.dll. Please make sure it is in your library path!\n"
FROZEN += "[PYI-28592:ERROR] Failed to execute script 'app' due to unhandled exception!"
DRIVER_384 = (
    "Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\nPossibly insufficient driver version: 384.130.0"
)
NVTRUST = 'return FileMap("/dev/mem", bar_addr, bar_size)\nGPU /sys/bus/pci/devices/0000:0f:00.0 broken: [Errno 1] Operation not permitted'
THEANO = "RuntimeError: Could not find cudnn library (looked for v5[.1])\nUsing Theano backend."
NO_GCC = "RuntimeError: Failed to find C compiler. Please specify via CC environment variable."
SITE = "/env/lib/python3.10/site-packages"
SYMBOL = "undefined symbol: _ZN2at4_ops10zeros_like4callERKNS_6TensorE"
PYTORCH3D = f"ImportError: {SITE}/pytorch3d/_C.cpython-310-x86_64-linux-gnu.so: {SYMBOL}"
IN_VLLM = f"ImportError: {SITE}/vllm/_C.abi3.so: {SYMBOL}"
IN_AN_EGG = f"ImportError: {SITE}/pointops-0.0.0-py3.10-linux-x86_64.egg/pointops_cuda.so: {SYMBOL}"
IN_FLASH = (
    f'Traceback (most recent call last):\n  File "{SITE}/flash_attn/flash_attn_interface.py", line 10, in <module>\n'
)
IN_FLASH += "    import flash_attn_2_cuda\nImportError: libtorch_cuda_cu.so: cannot open shared object file: No such file or directory"
ILLEGAL = "RuntimeError: CUDA error: an illegal memory access was encountered"
ILLEGAL_IN_SPCONV = (
    f'Traceback (most recent call last):\n  File "{SITE}/spconv/pytorch/ops.py", line 1503, in implicit_gemm\n{ILLEGAL}'
)
XLA_FAULT = "RuntimeError: Internal: Failed to launch CUDA kernel: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"
HANDLE = "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"
SMALL_CARD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 2.00 GiB total capacity; "
    "1.65 GiB already allocated; 0 bytes free; 1.70 GiB reserved in total by PyTorch)"
)
LENT = (
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 172.00 MiB (GPU 0; 8.00 GiB total capacity; "
    "22.35 GiB already allocated; 0 bytes free; 22.35 GiB reserved in total by PyTorch)"
)
ADAM = (
    f'Traceback (most recent call last):\n  File "train.py", line 20, in main\n  File "{SITE}/torch/optim/adamw.py", line 109, in step\n'
    "    state['exp_avg'] = torch.zeros_like(p, memory_format=torch.preserve_format)\n"
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 86.00 MiB (GPU 0; 23.70 GiB total capacity; "
    "22.90 GiB already allocated; 20.00 MiB free; 22.95 GiB reserved in total by PyTorch)"
)
WEIGHTS = (
    "ResourceExhaustedError: OOM when allocating tensor with shape[7,7,512,4096] and type float on "
    "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:RandomUniform]"
)
PHYSX = "PhysX error: Patch buffer overflow detected, please increase its size to at least 503808 in the scene desc!"
SCATTER = 'ScatterGatherKernel.cu:365: operator(): block: [6,0,0], thread: [12,0,0] Assertion `idx_dim >= 0 && idx_dim < index_size && "index out of bounds"` failed.'
STARTED = 'Traceback (most recent call last):\n  File "{}", line 20, in <module>\n    main()\n' + ILLEGAL
PORTABLE = 'File "C:\\ComfyUI_windows_portable\\ComfyUI\\comfy\\model_management.py", line 172, in get_torch_device\n'
LINK = "/usr/bin/ld: main.o: in function `main':\nmain.cpp:(.text+0x12): undefined reference to `cudaMalloc'"
NO_ARCHITECTURE = (
    "CMake Error at CMakeDetermineCUDACompiler.cmake:603 (message):\n  Failed to detect a default CUDA architecture."
)
TORCH_DLL = "OSError: [WinError 126] The specified module could not be found. Error loading "
TORCH_DLL += '"C:\\env\\Lib\\site-packages\\torch\\lib\\cudnn_cnn_infer64_8.dll" or one of its dependencies.'
CARGO = "error: could not find native static library `cudart_static`, perhaps an -L flag is missing?"
NODE = "Error: The specified module could not be found.\n"
NODE += "\\\\?\\D:\\app\\node_modules\\@tensorflow\\tfjs-node\\lib\\napi-v8\\tfjs_binding.node\n    at Object.Module._extensions..node"
OLD_TF = 'File "C:\\env\\lib\\site-packages\\tensorflow\\python\\pywrap_tensorflow.py", line 58, in <module>\n'
OLD_TF += "ImportError: DLL load failed: A dynamic link library (DLL) initialization routine failed."
WHISPER = "RuntimeError: parallel_for failed: cudaErrorNoKernelImageForDevice: no kernel image is available for execution on the device"
BUMBLEBEE = "[ERROR]Cannot access secondary GPU - error: Could not load GPU driver"
LIGHTNING = "MisconfigurationException: No supported gpu backend found!"
ENCODER = "[AVHWDeviceContext @ 0x62fafe365ac0] Cannot load libcuda.so.1"
NATIVE = 'CMake Error: CUDA_ARCHITECTURES is set to "native", but no GPU was detected.'
ORDINAL = "THCudaCheck FAIL file=torch/csrc/cuda/Module.cpp line=34 error=10 : invalid device ordinal\n"

MISMATCH = "Failed to initialize NVML: Driver/library version mismatch"
OLDER_LIBRARY = (
    "kernel version 515.48.7 does not match DSO version 510.73.5 -- cannot find working devices in this configuration"
)
MODULES_DIFFER = "nvidia-modeset: Version mismatch: nvidia.ko(410.73) nvidia-modeset.ko(390.87)"
POWERED_OFF = """kernel: NVRM: The NVIDIA GPU 0000:01:00.0
                NVRM: (PCI ID: 10de:1c8d) installed in this system has
                NVRM: fallen off the bus and is not responding to commands."""
VULKAN_LOST = "VulkanRHI::vkDeviceWaitIdle(Device) failed, VkResult=-4\n with error VK_ERROR_DEVICE_LOST"
PIP_WANTS = "{} requires torch==2.0.1, but you have torch 2.1.2+cu121 which is incompatible."
HELPER_REFUSED = "nvidia-container-cli: initialization error: nvml error: insufficient permissions: unknown."

ROWS = [  # the log, the cause, what the commands of its first fix say, and what they must not say
    (MODULE.format("6.8.10-300.fc40.x86_64"), "driver-not-loaded", "akmods", "apt-get"),
    (MODULE.format("6.17.9-76061709-generic"), "driver-not-loaded", "ubuntu-drivers", "dnf"),
    (MODULE.format("6.4.1-zen1-1-zen"), "driver-not-loaded", "pacman", "apt-get"),
    (NO_DRIVER, "driver-not-loaded", "ubuntu-drivers install", "docker"),
    (
        PYTORCH3D,
        "abi-mismatch",
        "--no-build-isolation --no-deps git+https://github.com/facebookresearch/pytorch3d",
        "PACKAGE",
    ),
    (IN_VLLM, "abi-mismatch", "uv pip install --python vllm-env vllm", "PACKAGE"),
    (IN_AN_EGG, "abi-mismatch", "find . -name setup.py", "PACKAGE"),
    (IN_FLASH, "abi-mismatch", "--no-deps flash-attn", "PACKAGE"),
    (
        "slurmd: fatal: can't stat gres.conf file /dev/nvidia0: No such file or directory",
        "driver-not-loaded",
        "nvidia-modprobe -c=0 -c=255",
        "ubuntu-drivers",
    ),
    (f"2026-11-30T10:00:01.1234567Z ##[group]Run pytest\n{NO_DRIVER}", "driver-not-loaded", "skipif", "reboot"),
    (f"[Pipeline] sh\n{NO_DRIVER}", "driver-not-loaded", "skipif", "reboot"),
    ('File "/content/drive/MyDrive/t.py", line 1\n' + NO_DRIVER, "gpu-not-visible", "nvidia-smi", "sudo"),
    (
        f"$ podman run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi -L\n{PERMISSIONS}",
        "device-permission",
        "label=disable",
        "usermod",
    ),
    (OTHERS, "gpu-memory-held-by-others", "kill 2451", "PID"),
    (NO_KERNEL, "gpu-arch-unsupported", "compute_cap", "get_arch_list"),
    (TF_WINDOWS, "cuda-library-not-found", "cudatoolkit", "export"),
    (f"$ uv run train.py\n{NOT_COMPILED}", "cpu-only-build", "uv pip install --torch-backend=auto", "python -m pip"),
    (NOT_COMPILED, "cpu-only-build", "python -m pip install", "uv "),
    (JAX_PAIR, "conflicting-packages", "jax jaxlib", "cuda12"),
    (LABEL, "device-side-assert", "target", "CUDA_VISIBLE_DEVICES"),
    ("NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.", "gpu-lost", "poweroff", "gpu-reset"),
    (WSL + UNKNOWN, "cuda-context-stale", "wsl.exe --shutdown", "rmmod"),
    (UNKNOWN, "cuda-context-stale", "rmmod nvidia_uvm", "wsl"),
    (TORCHVISION, "conflicting-packages", "torchvision", "nvidia-smi"),
    (f"C:\\Users\\x> nvidia-smi\n{NO_DEVICES}", "gpu-init-failed", "Enable-PnpDevice", "shutdown"),
    (f"$ docker run --rm ubuntu nvidia-smi\n{NO_DEVICES}", "gpu-init-failed", "--gpus all", "poweroff"),
    (JULIA, "windows-dll-missing", "chmod", "nvidia-cudnn"),
    (f"/home/x/miniconda3/envs/a/lib\n{LIBDEVICE}", "cuda-home-missing", "conda install", "pip"),
    ("fatal error: THC/THC.h: No such file or directory", "api-removed", "C10_CUDA_CHECK", "pip install"),
    ("SystemError: GPU device not found", "gpu-not-visible", "menu", "CUDA_VISIBLE_DEVICES"),
    (NO_SERVER, "rendezvous-failed", "TF_CONFIG", "MASTER_PORT"),
    (FROZEN, "windows-dll-missing", "--add-binary", 'set "PATH'),
    (DRIVER_384, "driver-too-old", "cuda9.0", "reboot"),
    (NVTRUST, "device-permission", "--mmio-access-type=sysfs", "usermod"),
    (THEANO, "cudnn-not-found", "dnn.enabled=False", "libcudnn9"),
    (f"#17 [builder 5/9] RUN pip install flash-attn\n{NO_GCC}", "host-compiler-unsupported", "RUN apt-get", "sudo"),
    (f"Fedora Linux 41\n{NO_GCC}", "host-compiler-unsupported", "dnf", "apt"),
    (ILLEGAL_IN_SPCONV, "illegal-memory-access", "spconv", "PACKAGE"),
    (XLA_FAULT, "illegal-memory-access", "xla_gpu_enable_command_buffer", "compute-sanitizer"),
    (SMALL_CARD, "gpu-out-of-memory", "batch 1", "export"),
    (LENT, "gpu-out-of-memory", "quantised", "--batch-size"),
    (ADAM, "gpu-out-of-memory", "AdamW8bit", "--batch-size"),
    (WEIGHTS, "gpu-out-of-memory", "clear_session", "--batch-size"),
    (PHYSX, "launch-resources", "gpu_max_rigid_patch_count", "maxrregcount"),
    (SCATTER, "device-side-assert", "num_classes", "get_input_embeddings"),
    (PORTABLE + NOT_COMPILED, "cpu-only-build", ".\\python_embeded\\python.exe -s -m pip install", "python -m pip"),
    (LINK, "cuda-home-missing", "CMAKE_CXX_STANDARD_LIBRARIES", "CUDA_HOME"),
    (NO_ARCHITECTURE, "cuda-home-missing", "CUDACXX", "apt-get"),
    (TORCH_DLL, "windows-dll-missing", "--force-reinstall", "winget"),
    (CARGO, "cuda-home-missing", "RUSTFLAGS", "cmake"),
    (NODE, "windows-dll-missing", "tensorflow.dll", "conda"),
    (OLD_TF, "windows-dll-missing", "IsProcessorFeaturePresent", "winget"),
    (WHISPER, "gpu-arch-unsupported", "ctranslate2==3.24.0", "torchvision"),
    (f"C:\\Users\\x> app\n{WHISPER}", "gpu-arch-unsupported", "ctranslate2==3.24.0", "export"),
    (BUMBLEBEE, "driver-not-loaded", "bumblebee.conf", "ubuntu-drivers"),
    (LIGHTNING, "gpu-not-visible", 'accelerator="auto"', "rmmod"),
    (ENCODER, "container-runtime-missing", "NVIDIA_DRIVER_CAPABILITIES=all", "ubuntu-drivers"),
    (NATIVE, "gpu-not-visible", "-DCMAKE_CUDA_ARCHITECTURES=86", "unset"),
    (ORDINAL * 2, "invalid-device-ordinal", "--nproc_per_node=gpu", "cuda:0"),
    (MISMATCH, "driver-library-mismatch", "sudo reboot", "IMAGE"),
    (
        f"$ docker run --rm --gpus all mine nvidia-smi\n{MISMATCH}",
        "driver-library-mismatch",
        "docker build --no-cache",
        "reboot",
    ),
    (OLDER_LIBRARY, "driver-library-mismatch", "libcuda.so.[0-9]*", "sudo reboot"),
    (MODULES_DIFFER, "driver-library-mismatch", "dkms install --force", "IMAGE"),
    (POWERED_OFF, "gpu-lost", "NVreg_DynamicPowerManagement=0x00", "gpu-lost.txt"),
    (VULKAN_LOST, "gpu-lost", "vulkaninfo", "poweroff"),
    (f"#0: error running hook #0: {HELPER_REFUSED}", "device-permission", "config.toml", "usermod"),
    ("module 'tensorflow' has no attribute 'placeholder'", "api-removed", "tensorflow.compat.v1", "tf_upgrade_v2"),
    (PIP_WANTS.format("libretranslate 1.5.5"), "conflicting-packages", "PACKAGE torch torchvision", "cu128"),
    (PIP_WANTS.format("xformers 0.0.20"), "conflicting-packages", "'xformers'", "cu128"),
    (f"C:\\Users\\x> app\n{TORCHVISION}", "conflicting-packages", "torch.version.cuda", "cu128"),
]


@pytest.mark.parametrize(("log", "cause", "says", "never"), ROWS)
def test_the_first_fix_fits_the_log(log: str, cause: str, says: str, never: str) -> None:
    found = next(d for d in triage(log, knowledge=KNOWLEDGE).diagnoses if d.cause == cause)
    first = found.fixes[0]
    commands = "\n".join(first.commands)
    assert first.safety != "inspect"
    assert says in commands
    assert never not in commands


@pytest.mark.parametrize(
    ("log", "command", "never"),
    [
        (STARTED.format("tools/demo.py"), "python tools/demo.py", "train.py"),
        (STARTED.format("/home/u/a b/demo.py"), "python demo.py", "a b"),
        (STARTED.format("$(reboot).py"), "python train.py", "reboot"),
        (STARTED.format("-c.py"), "python train.py", "python -c.py"),
        (f"$ python3 run.py --gpu 0\n{ILLEGAL}", "python run.py", "train.py"),
    ],
)
def test_a_command_names_the_script_that_was_started_if_its_name_is_no_code(log: str, command: str, never: str) -> None:
    commands = "\n".join(triage(log, knowledge=KNOWLEDGE).diagnoses[0].fixes[0].commands)
    assert f"CUDA_LAUNCH_BLOCKING=1 {command}" in commands
    assert never not in commands


NO_GPU_GIVEN = "WARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available."


@pytest.mark.parametrize(
    ("start", "image"),
    [
        (
            "$ docker run --rm -it -p 80:80 nvcr.io/nvidia/pytorch:24.05-py3 python a.py",
            "nvcr.io/nvidia/pytorch:24.05-py3",
        ),
        ("sudo docker run -v $PWD:/w --shm-size 8g \\\n  -e A='b c' demo bash", "demo"),
        ("Unable to find image 'ubuntu:22.04' locally", "ubuntu:22.04"),
        ("$ docker run -it $(reboot) bash", "IMAGE"),
        ("docker run with your own image", "IMAGE"),
    ],
)
def test_a_command_names_the_image_that_was_started(start: str, image: str) -> None:
    first = triage(f"{start}\n{NO_GPU_GIVEN}", knowledge=KNOWLEDGE).diagnoses[0].fixes[0]
    assert f"docker run --rm -it --gpus all {image}" in first.commands
    assert f"{image} is your image" in first.applies


OLD_OOM = "CUDA out of memory. Tried to allocate 2.93 GiB (GPU 0; 23.80 GiB total capacity; 12.04 GiB already allocated; 2.82 GiB free; "
OLD_OOM += (
    "19.69 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb"
)
WATCHDOG = "[E ProcessGroupNCCL.cpp:821] [Rank {}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={}, OpType=ALLREDUCE, "
WATCHDOG += "Timeout(ms)=1800000) ran for 1803391 milliseconds before timing out."
BY_RANK = """Traceback (most recent call last):
  File "/home/x/train.py", line 4, in <module>
    torch.cuda.set_device({})
RuntimeError: CUDA error: invalid device ordinal"""
NO_SYMBOL = "ImportError: /home/x/lib/python3.10/site-packages/{}: undefined symbol: _ZN3c104cuda9SetDeviceEi"
TORCH_ROWS = [
    (OLD_OOM, "memory-fragmentation", "max_split_size_mb", "expandable_segments"),
    (WATCHDOG.format(0, 1), "nccl-timeout", "NCCL_P2P_DISABLE=1", "timedelta"),
    ("Evaluating the results...\n" + WATCHDOG.format(1, 4178), "nccl-timeout", "timedelta", "NCCL_P2P_DISABLE"),
    (BY_RANK.format("local_rank"), "invalid-device-ordinal", "--nproc_per_node=gpu", "put 0 there"),
    (BY_RANK.format("gpu_id"), "invalid-device-ordinal", "put 0 there", "--nproc_per_node"),
    (
        NO_SYMBOL.format("pytorch3d/_C.cpython-310-x86_64-linux-gnu.so"),
        "abi-mismatch",
        "pytorch3d.git@stable",
        "PACKAGE",
    ),
    (NO_SYMBOL.format("ops-0.0.0-py3.10-linux-x86_64.egg/ops.so"), "abi-mismatch", "setup.py install", "PACKAGE"),
    (NO_SYMBOL.format("torch/_C.cpython-310-x86_64-linux-gnu.so"), "abi-mismatch", "pip uninstall -y torch", "PACKAGE"),
    ("RuntimeError: rnn: hx is not contiguous", "unsupported-cudnn-input", "h.contiguous()", "enabled=False"),
    ("ModuleNotFoundError: No module named 'torch._six'", "api-removed", "collections.abc", "conda create"),
    (
        "cuda runtime error (35) : CUDA driver version is insufficient for CUDA runtime version at /pytorch/torch/csrc/cuda/Module.cpp:34",
        "driver-too-old",
        "ubuntu-drivers install",
        "cu126",
    ),
]


@pytest.mark.parametrize(("log", "cause", "says", "never"), TORCH_ROWS)
def test_what_a_pytorch_log_tells_decides_its_first_fix(log: str, cause: str, says: str, never: str) -> None:
    found = next(d for d in triage(log, knowledge=KNOWLEDGE).diagnoses if d.cause == cause)
    commands = "\n".join(found.fixes[0].commands)
    assert says in commands
    assert never not in commands


NOT_OPENED = "{0}: cannot open shared object file: No such file or directory\n"
OF_ANOTHER_RELEASE = [  # a library of another product whose number is that of a cuDNN, the missing cuDNN, what the fix names
    ("libnvinfer.so.9", "libcudnn.so.8", "nvidia-cudnn-cu12==8.", "==9."),
    ("libcublas.so.8.0", "libcudnn.so.9", "nvidia-cudnn-cu12==9.", "==8."),
    ("libnvinfer.so.8", "libcudnn.so.7", "cudnn=7", "cudnn=8"),
]


@pytest.mark.parametrize(("other", "cudnn", "says", "never"), OF_ANOTHER_RELEASE)
def test_the_number_of_another_missing_library_is_not_taken_for_that_of_cudnn(
    other: str, cudnn: str, says: str, never: str
) -> None:
    for order in ((other, cudnn), (cudnn, other)):
        log = "".join(f"OSError: {NOT_OPENED.format(name)}" for name in order)
        found = next(d for d in triage(log, knowledge=KNOWLEDGE).diagnoses if d.cause == "cudnn-not-found")
        commands = "\n".join(found.fixes[0].commands)
        assert says in commands
        assert never not in commands


PLACEHOLDERS = {  # a word that the user has to replace: what else in the same fix tells where to take it from
    "PID": ("nvidia-smi", "fuser", "tasklist", "ps "),
    "NODE": ("get nodes", "-o wide", "sinfo", "the node"),
    "POD": ("get pods", "shows the name", "describe pod"),
    "JOBID": ("squeue", "number of the job", "lists your jobs"),
    "PACKAGE": ("the package", "pip list", "the extension", "distributions", "its name", "are there", "is the one"),
}


def test_a_handle_that_cannot_be_made_is_told_apart_by_three_runs() -> None:
    first = triage(HANDLE, knowledge=KNOWLEDGE).diagnoses[0].fixes[0]
    says = ["nvidia-smi", 'CUDA_VISIBLE_DEVICES=""', "env -u LD_LIBRARY_PATH"]
    assert [word in command for word, command in zip(says, first.commands, strict=False)] == [True] * 3


def test_every_placeholder_comes_with_a_way_to_find_its_value() -> None:
    lost = []
    for name, cause in KNOWLEDGE.causes.items():
        for fix in cause["fixes"]:
            text = "\n".join([fix["applies"], *fix["commands"]])
            lost += [
                (name, fix["title"], word)
                for word, ways in PLACEHOLDERS.items()
                if re.search(rf"(?<![\w-]){word}(?![\w-])", "\n".join(fix["commands"]))
                and not any(way in text for way in ways)
            ]
    assert not lost


def test_in_a_notebook_a_shells_commands_are_those_of_a_cell() -> None:
    log = "/usr/local/lib/python3.10/dist-packages/google/colab/_shell.py\nRuntimeError: Found no NVIDIA driver on your system."
    fixes = [fix for found in triage(log, knowledge=KNOWLEDGE).diagnoses for fix in found.fixes]
    commands = [command for fix in fixes for command in fix.commands]
    assert "!nvidia-smi" in {command.split("   #")[0].strip() for command in commands}
    assert not [c for c in commands if c.startswith(("python ", "nvidia-smi", "export ", "cd "))]
    assert not [c for c in commands if c.startswith(("!import ", "!#", "!%"))]


def test_a_job_of_a_hosted_service_has_no_cells() -> None:
    log = '  File "/opt/ml/code/train.py", line 3, in <module>\nRuntimeError: Found no NVIDIA driver on your system.'
    fixes = triage(log, knowledge=KNOWLEDGE).diagnoses[0].fixes
    assert any("ml.g5" in command for command in fixes[0].commands)
    assert not [c for fix in fixes for c in fix.commands if c.startswith("!")]


OTHER_LANGUAGES = [  # the log of a program that is not written in Python, the cause, what its first fix has to say
    ("ERROR: LoadError: InitError: Could not find a suitable CUDA installation", "cuda-framework-mismatch", "julia -e"),
    (
        "ERROR: Out of GPU memory trying to allocate 2.5 GiB\n  @ CUDA ~/.julia/packages/CUDA/BbliS/src/pool.jl:228",
        "gpu-out-of-memory",
        "CUDA.reclaim()",
    ),
    (
        "[ONNXRuntimeError] : 1 : FAIL : Failed to load library libonnxruntime_providers_cuda.so with error: libcublasLt.so.11: cannot open "
        "shared object file: No such file or directory\n\tat ai.onnxruntime.OrtSession.createSession(OrtSession.java:76)",
        "cuda-framework-mismatch",
        "onnxruntime_gpu",
    ),
]


@pytest.mark.parametrize(("log", "cause", "says"), OTHER_LANGUAGES)
def test_a_program_in_another_language_is_not_first_told_to_use_pip(log: str, cause: str, says: str) -> None:
    first = triage(log, knowledge=KNOWLEDGE).diagnoses[0]
    assert first.cause == cause
    assert says in "\n".join(first.fixes[0].commands)
    with_pip = ["python -m pip" in "\n".join(fix.commands) for fix in first.fixes]
    assert with_pip == sorted(with_pip)


def test_where_a_program_carries_its_python_that_one_installs_and_checks() -> None:
    fix = triage(PORTABLE + NOT_COMPILED, knowledge=KNOWLEDGE).diagnoses[0].fixes[0]
    assert fix.verify
    for line in (*fix.commands, *fix.verify):
        assert "python" not in line or ".\\python_embeded\\python.exe -s -" in line


def test_pip_stays_where_it_is_when_python_calls_the_other_language() -> None:
    log = "thread 'main' panicked at src/main.rs:3:5:\nlibcublas.so.12: cannot open shared object file: No such file or directory"
    alone, called = (triage(text, knowledge=KNOWLEDGE) for text in (log, f"Traceback (most recent call last):\n{log}"))
    assert "python -m pip" not in "\n".join(alone.diagnoses[0].fixes[0].commands)
    assert "python -m pip" in "\n".join(called.diagnoses[0].fixes[0].commands)


def test_checks_that_are_words_stay_words() -> None:
    facts = Facts([Fact("platform.hosted", "colab")])
    fix = {
        "gate": None,
        "when": None,
        "first": None,
        "solve": "",
        "needs": [],
        "title": "t",
        "safety": "inspect",
        "applies": "",
        "why": "",
    }
    made = {
        "commands": ["cd /content", "x = model(y)", "A=1 python t.py"],
        "verify": ["python is found", "python -V", "ls shows it"],
    }
    (item,) = ready([{**fix, **made}], facts, lambda _: False, KNOWLEDGE)
    assert item.commands == ("%cd /content", "x = model(y)", "!A=1 python t.py")
    assert item.verify == ("python is found", "!python -V", "ls shows it")


@pytest.mark.parametrize(
    ("log", "command"),
    [
        ("ModuleNotFoundError: No module named 'sklearn.metrics'", "python -m pip install scikit-learn"),
        ("ImportError: libsndfile.so.1: cannot open shared object file: No such file or directory", "libsndfile1"),
        ("/tmp/a/main.c:5:10: fatal error: Python.h: No such file or directory", "python3-dev"),
        ("ImportError: cannot import name 'builder' from 'google.protobuf.internal' (/v/x.py)", "protobuf>=3.20.3,<5"),
        ("_pickle.UnpicklingError: Weights only load failed.", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=1 python train.py"),
        ("OMP: Error #15: Initializing libiomp5md.dll, but found libiomp5md.dll already initialized.", "cmd /c"),
    ],
)
def test_a_failure_outside_the_field_comes_with_the_command_that_mends_it(log: str, command: str) -> None:
    found = triage(log, knowledge=KNOWLEDGE)
    assert (found.verdict, found.diagnoses) == ("unrelated", ())
    assert command in "\n".join(found.next_steps[0].commands)


def test_a_module_that_no_table_knows_is_not_guessed() -> None:
    (step, *_) = triage("ModuleNotFoundError: No module named 'my_helpers'", knowledge=KNOWLEDGE).next_steps
    assert "MODULE" in "\n".join(step.commands)
    assert "my_helpers" not in "\n".join(step.commands)
