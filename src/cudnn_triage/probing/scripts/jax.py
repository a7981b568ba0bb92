"""JAX: jaxlib and the CUDA plugin that go with it, what it sees, and whether it computes. Part: trials."""

import os
import re
from importlib import metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .prelude import SETTINGS, attempt, cuda_dotted, cudnn_dotted, fact, facts, record, run, stage
    from .trials import capability, failed, heard, imported, tell_fault, trial, watched


def numbers(version: str) -> "tuple[int, ...]":
    """The dotted numbers that a version begins with."""
    found = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def examine_packages() -> None:
    """jaxlib, plugin and PJRT releases; JAX takes a plugin only of jaxlib's own release."""
    versions = {}
    for name in SETTINGS["distributions"]:
        version = attempt(metadata.version, name)
        if version:
            versions[name] = version
    fact("jax.version", versions.get("jax"))
    jaxlib = versions.get("jaxlib")
    fact("jaxlib.version", jaxlib)
    plugins = {name: version for name, version in versions.items() if name.endswith(("-plugin", "-pjrt"))}
    for name, version in plugins.items():
        fact("plugin.version" if name.endswith("-plugin") else "jax.pjrt", version)
    if versions:
        record("jax", **{name.replace("-", "_"): version for name, version in versions.items()})
    fact("jax.plugin.installed", any(name.endswith("-plugin") for name in plugins))
    if plugins and jaxlib:
        fact("jax.plugin.matches", all(numbers(version) == numbers(jaxlib) for version in plugins.values()))
    bundled = "+cuda" in (jaxlib or "")  # jaxlib up to 0.4.29 had CUDA in itself
    fact("jax.build", "cuda" if plugins or bundled else "cpu")
    cuda = re.search(r"cuda(\d+)", " ".join(plugins) or (jaxlib or ""))
    fact("jax.cuda.major", int(cuda[1]) if cuda else None)


def examine_build() -> None:
    """The CUDA and cuDNN that the plugin was built for and has loaded, as it says itself."""
    versions = None
    for name in SETTINGS["version_modules"]:
        versions = versions or attempt(lambda name=name: __import__(name, fromlist=["x"]))
    if versions is None:
        return
    stage("versions of the plugin")
    for name, function in (
        ("cuda.build", "cuda_runtime_build_version"),
        ("cuda.runtime", "cuda_runtime_get_version"),
        ("cuda.driver", "cuda_driver_get_version"),
    ):
        fact(name, cuda_dotted(attempt(lambda function=function: getattr(versions, function)())))
    built = cudnn_dotted(attempt(lambda: versions.cudnn_build_version()))
    loaded = cudnn_dotted(attempt(lambda: versions.cudnn_get_version()))
    for name, version in (("compiled", built), ("loaded", loaded)):
        fact("cudnn." + name, version)
        fact("jax.cudnn." + name, version)


def examine_devices(jax: "Any") -> "Any":
    """The GPU that JAX shows, or why it shows none."""
    stage("jax.devices")
    gpus = []
    try:
        gpus = jax.devices("gpu")
    except Exception as error:
        if attempt(lambda: __import__("jax._src.xla_bridge", fromlist=["x"])._backend_errors.get("cuda")):
            failed(error, "jax.devices")
    try:
        facts("jax.backend", {device.platform for device in jax.devices()})
    except Exception as error:
        failed(error, "jax.devices")
    heard("jax.devices")
    fact("jax.gpu", bool(gpus))
    fact("gpu.count", len(gpus) or None)
    for gpu in gpus:
        fact("gpu.name", getattr(gpu, "device_kind", None))
        found = capability(str(getattr(gpu, "compute_capability", "")))
        fact("gpu.cc", "{}.{}".format(*found) if found else None)
    return gpus[0] if gpus else None


def add(jax: "Any", device: "Any") -> None:
    """The plainest kernel of all."""
    with jax.default_device(device):
        if float((jax.numpy.ones(64) + 1).sum()) != 128.0:
            raise ArithmeticError("an addition gave a wrong sum")


def multiply(jax: "Any", device: "Any") -> None:
    """A matrix product."""
    with jax.default_device(device):
        if float((jax.numpy.ones((32, 32)) @ jax.numpy.ones((32, 32))).sum()) != 32768.0:
            raise ArithmeticError("a matrix product is wrong")


def convolve(jax: "Any", device: "Any") -> None:
    """A small convolution forward and backward; on a GPU it goes to cuDNN."""

    def loss(kernel: "Any") -> "Any":
        image = jax.numpy.ones((2, 3, 16, 16))
        return (jax.lax.conv(image, kernel, (1, 1), "SAME") ** 2).mean()

    with jax.default_device(device):
        gradient = jax.grad(loss)(jax.numpy.ones((8, 3, 3, 3)))
        if not bool(jax.numpy.isfinite(gradient).all()):
            raise ArithmeticError("the gradient of a convolution is not finite")


def recur(jax: "Any", device: "Any") -> None:
    """A recurrent step out of plain operations, forward and backward."""

    def loss(weights: "Any") -> "Any":
        state = jax.numpy.zeros((2, 8))
        for _ in range(4):
            state = jax.numpy.tanh(state @ weights + 1.0)
        return (state**2).mean()

    with jax.default_device(device):
        if not bool(jax.numpy.isfinite(jax.grad(loss)(jax.numpy.ones((8, 8)) / 8)).all()):
            raise ArithmeticError("the gradient of a recurrent step is not finite")


def step(jax: "Any", device: "Any") -> None:
    """An LSTM by cuDNN's kernel."""
    rnn = __import__("jax.experimental.rnn", fromlist=["x"])
    with jax.default_device(device):
        weights = rnn.init_lstm_weight(jax.random.PRNGKey(0), 8, 8, 1, False)
        zero = jax.numpy.zeros((1, 2, 8))
        lengths = jax.numpy.full((2,), 4, dtype=jax.numpy.int32)
        output = rnn.lstm(jax.numpy.ones((2, 4, 8)), zero, zero, weights, lengths, 8, 8, 1, 0.0, False)[0]
        if not bool(jax.numpy.isfinite(output).all()):
            raise ArithmeticError("the output of an LSTM is not finite")


def main() -> None:
    """Staged, so that the last stage tells where a crash happened."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    os.environ["XLA_PYTHON_CLIENT_ALLOCATOR"] = "platform"
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    examine_packages()
    jax = imported("jax")
    if jax is None:
        return
    examine_build()
    gpu = examine_devices(jax)
    cpu = (attempt(lambda: jax.devices("cpu")) or [None])[0]
    if cpu is not None:
        trial("jax.cpu", lambda: convolve(jax, cpu), lambda: recur(jax, cpu))
    if gpu is None:
        return
    first = trial("jax.kernel", lambda: add(jax, gpu))
    if not first:
        tell_fault("jax", [first], [])
        return
    plain = [trial("jax.matmul", lambda: multiply(jax, gpu)), trial("jax.rnn.plain", lambda: recur(jax, gpu))]
    cudnn = [trial("jax.conv", lambda: convolve(jax, gpu)), trial("jax.rnn", lambda: step(jax, gpu))]
    tell_fault("jax", plain, cudnn)


if __name__ == "__main__":
    run(lambda: watched(main))
