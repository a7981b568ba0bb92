"""PyTorch: what it was built with, what it sees, and whether it computes, without and with cuDNN. Part: trials."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .prelude import GPU_MEMORY, attempt, cudnn_dotted, fact, message, record, run, stage
    from .trials import failed, heard, imported, tell_archs, tell_fault, trial, watched


def examine_build(torch: "Any") -> "list[str]":
    """Releases that the build names; its architectures. Needs no GPU."""
    fact("torch.version", str(torch.__version__))
    cuda, hip = getattr(torch.version, "cuda", None), getattr(torch.version, "hip", None)
    fact("torch.build", "rocm" if hip else "cuda" if cuda else "xpu" if getattr(torch.version, "xpu", None) else "cpu")
    fact("torch.cuda", cuda)
    fact("cuda.build", cuda)
    archs = list(attempt(torch.cuda.get_arch_list) or [])
    flags = attempt(torch._C._cuda_getArchFlags) if cuda else None
    archs = archs or (flags.split() if flags else [])
    record(
        "torch",
        version=str(torch.__version__),
        cuda=cuda,
        hip=hip,
        archs=archs,
        git=getattr(torch.version, "git_version", None),
    )
    nccl = attempt(torch.cuda.nccl.version) if cuda else None
    if nccl:
        fact("nccl.version", ".".join(map(str, nccl)) if isinstance(nccl, tuple) else None)
    return archs


def examine_cudnn(torch: "Any") -> None:
    """cuDNN as compiled against, as loaded, and whether PyTorch accepts the pair."""
    native = getattr(torch._C, "_cudnn", None)
    fact("torch.cudnn", native is not None)
    if native is None:
        return
    stage("cuDNN versions")
    for name, reading in (("compiled", native.getCompileVersion), ("loaded", native.getRuntimeVersion)):
        version = attempt(reading)
        if version:
            fact(f"torch.cudnn.{name}", ".".join(map(str, version)))
            fact(f"cudnn.{name}", ".".join(map(str, version)))
    try:
        version = torch.backends.cudnn.version()
    except Exception as error:
        fact("torch.cudnn.accepted", False)
        failed(error, "torch.cudnn.accepted")
        return
    fact("torch.cudnn.accepted", version is not None)
    fact("cudnn.loaded", cudnn_dotted(version))


def examine_devices(torch: "Any", archs: "list[str]") -> bool:
    """The GPUs that PyTorch shows, or why it shows none."""
    stage("torch.cuda.is_available")
    available = bool(torch.cuda.is_available())
    heard("torch.gpu")
    fact("torch.gpu", available)
    if not available:
        if getattr(torch.version, "cuda", None):
            stage("torch.cuda.init")
            try:
                torch.cuda.init()
            except Exception as error:
                fact("torch.init.error", str(error).splitlines()[0] if str(error) else type(error).__name__)
                failed(error, "torch.init")
        tell_archs("torch", archs, [])
        return False
    count = torch.cuda.device_count()
    fact("gpu.count", count)
    capabilities = []
    for index in range(count):
        name, capability = attempt(torch.cuda.get_device_name, index), attempt(torch.cuda.get_device_capability, index)
        fact("gpu.name", name)
        if capability:
            fact("gpu.cc", "{}.{}".format(*capability))
            capabilities.append(tuple(capability))
        record("torch device", index=index, name=name, cc=capability)
    tell_archs("torch", archs, capabilities)
    return True


def convolve(torch: "Any", device: str) -> None:
    """A small convolution forward and backward; the sum is looked at, since launches are asynchronous."""
    layer = torch.nn.Conv2d(3, 8, 3, padding=1).to(device)
    image = torch.ones(2, 3, 16, 16, device=device, requires_grad=True)
    layer(image).square().mean().backward()
    if not bool(torch.isfinite(image.grad.sum()).item()):
        raise ArithmeticError("the gradient of a convolution is not finite")


def step(torch: "Any", device: str) -> None:
    """A step of an LSTM forward and backward."""
    layer = torch.nn.LSTM(8, 8).to(device)
    output, _ = layer(torch.ones(4, 2, 8, device=device))
    output.square().mean().backward()
    if not bool(torch.isfinite(layer.weight_ih_l0.grad.sum()).item()):
        raise ArithmeticError("the gradient of an LSTM is not finite")


def add(torch: "Any", device: str) -> None:
    """The plainest kernel of all."""
    if float((torch.ones(64, device=device) + 1).sum().item()) != 128.0:
        raise ArithmeticError("an addition gave a wrong sum")


def multiply(torch: "Any", device: str) -> None:
    """A matrix product: cuBLAS."""
    if float((torch.ones(32, 32, device=device) @ torch.ones(32, 32, device=device)).sum().item()) != 32768.0:
        raise ArithmeticError("a matrix product is wrong")


def examine_gpu(torch: "Any") -> None:
    """From the plainest operation to the RNN: first without cuDNN, so that a crash with it tells."""
    device = "cuda:0"
    stage("first memory on the GPU")
    total = attempt(lambda: torch.cuda.get_device_properties(0).total_memory)
    fact("memory.total", total)
    free = attempt(lambda: torch.cuda.mem_get_info(0)[0])
    fact("memory.free", free)
    if total:
        attempt(torch.cuda.set_per_process_memory_fraction, min(1.0, GPU_MEMORY / total), 0)
    first = trial("torch.kernel", lambda: add(torch, device))
    if not first:
        tell_fault("torch", [first], [])
        return
    plain = [trial("torch.matmul", lambda: multiply(torch, device))]
    with torch.backends.cudnn.flags(enabled=False):
        plain.append(trial("torch.conv.plain", lambda: convolve(torch, device)))
        plain.append(trial("torch.rnn.plain", lambda: step(torch, device)))
    cudnn = [
        trial("torch.conv", lambda: convolve(torch, device)),
        trial("torch.rnn", lambda: step(torch, device)),
    ]
    tell_fault("torch", plain, cudnn)


def main() -> None:
    """Staged, so that the last stage tells where a crash happened."""
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    # else 32 MiB on newer GPUs, half of what a probe may take
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    os.environ.setdefault("CUBLASLT_WORKSPACE_SIZE", "1024")
    torch = imported("torch")
    if torch is None:
        return
    archs = examine_build(torch)
    try:
        examine_cudnn(torch)
    except Exception as error:
        message(error, "torch.cudnn")
    available = examine_devices(torch, archs)
    torch.manual_seed(0)
    trial("torch.cpu", lambda: convolve(torch, "cpu"), lambda: step(torch, "cpu"))
    if available:
        examine_gpu(torch)


if __name__ == "__main__":
    run(lambda: watched(main))
