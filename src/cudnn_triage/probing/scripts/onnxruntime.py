"""ONNX Runtime: what it was built for, its providers, and whether sessions run on the GPU. Part: trials.

The models it runs are written here byte by byte, so that the package onnx is not needed.
"""

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .prelude import GPU_MEMORY, SETTINGS, attempt, fact, facts, record, run, stage
    from .trials import heard, imported, tell_fault, trial, watched

_FLOAT = 1  # TensorProto.FLOAT


def varint(value: int) -> bytes:
    """A varint of the protocol buffer encoding."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def whole(field: int, value: int) -> bytes:
    """An integer field."""
    return varint(field << 3) + varint(value)


def block(field: int, content: "bytes | str") -> bytes:
    """A field of text, bytes or a message."""
    data = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name: str, shape: "tuple[int, ...]", value: float) -> bytes:
    """A TensorProto full of one value."""
    count = 1
    for size in shape:
        count *= size
    data = struct.pack(f"<{count}f", *[value] * count)
    return b"".join(whole(1, size) for size in shape) + whole(2, _FLOAT) + block(8, name) + block(9, data)


def described(name: str, shape: "tuple[int, ...]") -> bytes:
    """A ValueInfoProto of floats."""
    sizes = b"".join(block(1, whole(1, size)) for size in shape)
    return block(1, name) + block(2, block(1, whole(1, _FLOAT) + block(2, sizes)))


def model(
    operator: str, given: "list[tuple[str, tuple[int, ...]]]", out: "tuple[int, ...]", attributes: bytes = b""
) -> bytes:
    """A model of one node; its first input is fed, the others are constants of 1/8."""
    names = [name for name, _ in given]
    inputs = b"".join(block(1, name) for name in names)
    node = inputs + block(2, "out") + block(3, "node") + block(4, operator) + attributes
    constants = b"".join(block(5, tensor(name, shape, 0.125)) for name, shape in given[1:])
    ends = block(11, described(*given[0])) + block(12, described("out", out))
    graph = block(1, node) + block(2, "graph") + constants + ends
    return whole(1, 7) + block(7, graph) + block(8, whole(2, 11))  # IR version 7, opset 11


def models() -> "dict[str, tuple[bytes, tuple[int, ...]]]":
    """The models by name, with the shape of what they are fed."""
    hidden = block(5, block(1, "hidden_size") + whole(3, 4) + whole(20, 2))
    return {
        "kernel": (model("Add", [("x", (64,)), ("y", (64,))], (64,)), (64,)),
        "matmul": (model("MatMul", [("x", (32, 32)), ("y", (32, 32))], (32, 32)), (32, 32)),
        "conv": (model("Conv", [("x", (1, 3, 16, 16)), ("w", (8, 3, 3, 3))], (1, 8, 14, 14)), (1, 3, 16, 16)),
        "rnn": (
            model("LSTM", [("x", (4, 2, 8)), ("w", (1, 16, 8)), ("r", (1, 16, 4))], (4, 1, 2, 4), hidden),
            (4, 2, 8),
        ),
    }


def compute(ort: "Any", name: str, providers: "list[Any]", wanted: str) -> None:
    """Run one of the models, on provider ``wanted`` and no other."""
    numpy = __import__("numpy")
    data, shape = models()[name]
    options = ort.SessionOptions()
    options.log_severity_level = 2
    session = ort.InferenceSession(data, options, providers=providers)
    if wanted not in session.get_providers():
        raise RuntimeError(f"the session fell back to {session.get_providers()}")
    result = session.run(None, {"x": numpy.ones(shape, dtype=numpy.float32)})[0]
    if not bool(numpy.isfinite(result).all()):
        raise ArithmeticError("the result is not finite")


def examine_build(ort: "Any") -> "list[str]":
    """Releases and providers of the build. Needs no GPU."""
    fact("onnxruntime.version", str(ort.__version__))
    info = attempt(lambda: __import__("onnxruntime.capi.build_and_package_info", fromlist=["x"]))
    cuda = getattr(info, "cuda_version", "") or ""
    providers = list(attempt(ort.get_available_providers) or [])
    fact("onnxruntime.package", getattr(info, "package_name", None))
    fact("onnxruntime.cuda", cuda)
    fact("cuda.build", cuda)
    fact("cudnn.compiled", getattr(info, "cudnn_version", "") or None)
    facts("onnxruntime.providers", providers)
    kinds = {provider: kind for kind, provider in SETTINGS["providers"].items()}
    built = [kinds[provider] for provider in providers if provider in kinds]
    fact("onnxruntime.build", built[0] if built else "cpu")
    record("onnxruntime", version=str(ort.__version__), cuda=cuda or None, providers=providers)
    return providers


def main() -> None:
    """Staged, so that the last stage tells where a crash happened."""
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    ort = imported("onnxruntime")
    if ort is None:
        return
    if not hasattr(ort, "InferenceSession"):
        fact("onnxruntime.imports", False)  # a folder left behind by another distribution of the same import name
        return
    providers = examine_build(ort)
    trial("onnxruntime.cpu", lambda: compute(ort, "conv", ["CPUExecutionProvider"], "CPUExecutionProvider"))
    wanted = SETTINGS["providers"]["cuda"]
    if wanted not in providers:
        fact("onnxruntime.gpu", False)
        return
    stage("onnxruntime.gpu")
    chosen = [(wanted, {"device_id": "0", "gpu_mem_limit": str(GPU_MEMORY), "cudnn_conv_algo_search": "HEURISTIC"})]
    works = trial("onnxruntime.kernel", lambda: compute(ort, "kernel", chosen, wanted))
    heard("onnxruntime.gpu")
    fact("onnxruntime.gpu", True if works is None else works)
    if not works:
        return
    plain = [trial("onnxruntime.matmul", lambda: compute(ort, "matmul", chosen, wanted))]
    cudnn = [
        trial("onnxruntime.conv", lambda: compute(ort, "conv", chosen, wanted)),
        trial("onnxruntime.rnn", lambda: compute(ort, "rnn", chosen, wanted)),
    ]
    tell_fault("onnxruntime", plain, cudnn)


if __name__ == "__main__":
    run(lambda: watched(main))
