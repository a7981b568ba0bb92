"""TensorFlow: what it was built with, what it sees, and whether it computes, without and with cuDNN. Part: trials."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .prelude import GPU_MEMORY, attempt, fact, facts, record, run, stage
    from .trials import heard, imported, tell_archs, tell_fault, trial, watched


def examine_build(tf: "Any") -> "tuple[str, list[str]]":
    """Releases that the build names, and its architectures. Needs no GPU."""
    fact("tensorflow.version", str(tf.__version__))
    info = dict(attempt(lambda: tf.sysconfig.get_build_info()) or {})
    cuda = info.get("is_cuda_build", attempt(lambda: tf.test.is_built_with_cuda()))
    build = "rocm" if info.get("is_rocm_build") else "cuda" if cuda else "cpu"
    fact("tensorflow.build", build)
    for ours, theirs in (("cuda.build", "cuda_version"), ("cudnn.compiled", "cudnn_version")):
        digits = str(info.get(theirs, "")).replace("64_", "")
        fact(ours, digits)
        fact("tensorflow.cuda" if ours == "cuda.build" else "tensorflow.cudnn.compiled", digits)
    archs = [str(arch) for arch in info.get("cuda_compute_capabilities", [])]
    record("tensorflow", version=str(tf.__version__), build={key: str(value) for key, value in info.items()})
    keras = attempt(lambda: __import__("importlib.metadata").metadata.version("keras"))
    fact("keras.version", keras)
    return build, archs


def examine_devices(tf: "Any", archs: "list[str]") -> "list[Any]":
    """The GPUs that TensorFlow shows; how it would take their memory; from here on it may take little."""
    stage("list GPUs")
    gpus = attempt(lambda: tf.config.list_physical_devices("GPU")) or []
    heard("tensorflow.gpu")
    fact("tensorflow.gpu", bool(gpus))
    fact("gpu.count", len(gpus) if gpus else None)
    capabilities = []
    for gpu in gpus:
        growth = attempt(tf.config.experimental.get_memory_growth, gpu)
        if growth is not None:
            fact("tensorflow.growth", bool(growth))
        details = attempt(tf.config.experimental.get_device_details, gpu) or {}
        fact("gpu.name", details.get("device_name"))
        capability = details.get("compute_capability")
        if capability:
            fact("gpu.cc", "{}.{}".format(*capability))
            capabilities.append(tuple(capability))
        record("tensorflow device", name=gpu.name, details={key: str(value) for key, value in details.items()})
    tell_archs("tensorflow", archs, capabilities)
    if gpus:
        attempt(tf.config.set_visible_devices, gpus[:1], "GPU")
        limit = tf.config.LogicalDeviceConfiguration(memory_limit=GPU_MEMORY >> 20)
        attempt(tf.config.set_logical_device_configuration, gpus[0], [limit])
    return list(gpus)


def add(tf: "Any", device: str) -> None:
    """The plainest kernel of all."""
    with tf.device(device):
        if float(tf.reduce_sum(tf.ones([64]) + 1.0).numpy()) != 128.0:
            raise ArithmeticError("an addition gave a wrong sum")


def multiply(tf: "Any", device: str) -> None:
    """A matrix product: cuBLAS."""
    with tf.device(device):
        if float(tf.reduce_sum(tf.matmul(tf.ones([32, 32]), tf.ones([32, 32]))).numpy()) != 32768.0:
            raise ArithmeticError("a matrix product is wrong")


def convolve(tf: "Any", device: str) -> None:
    """A small convolution forward and backward; on a GPU TensorFlow always takes cuDNN for it."""
    with tf.device(device), tf.GradientTape() as tape:
        kernel = tf.Variable(tf.ones([3, 3, 3, 8]))
        loss = tf.reduce_mean(tf.nn.conv2d(tf.ones([2, 16, 16, 3]), kernel, strides=1, padding="SAME") ** 2)
    gradient = tape.gradient(loss, kernel)
    if not bool(tf.reduce_all(tf.math.is_finite(gradient)).numpy()):
        raise ArithmeticError("the gradient of a convolution is not finite")


def recur(tf: "Any", device: str) -> None:
    """A recurrent step out of plain operations, forward and backward: no cuDNN in it."""
    with tf.device(device), tf.GradientTape() as tape:
        weights = tf.Variable(tf.ones([8, 8]) / 8.0)
        state = tf.zeros([2, 8])
        for _ in range(4):
            state = tf.tanh(tf.matmul(state, weights) + 1.0)
        loss = tf.reduce_mean(state**2)
    if not bool(tf.reduce_all(tf.math.is_finite(tape.gradient(loss, weights))).numpy()):
        raise ArithmeticError("the gradient of a recurrent step is not finite")


def step(tf: "Any", device: str) -> None:
    """An LSTM by cuDNN's own kernel, forward and backward."""
    raw = tf.raw_ops
    with tf.device(device), tf.GradientTape() as tape:
        size = raw.CudnnRNNParamsSize(num_layers=1, num_units=8, input_size=8, T=tf.float32, S=tf.int32)
        weights = tf.Variable(tf.ones([int(size.numpy()[0])]) / 64.0)
        zero = tf.zeros([1, 2, 8])
        image = tf.ones([4, 2, 8])
        out = raw.CudnnRNNV2(input=image, input_h=zero, input_c=zero, params=weights, is_training=True)
        loss = tf.reduce_mean(out[0] ** 2)
    if not bool(tf.reduce_all(tf.math.is_finite(tape.gradient(loss, weights))).numpy()):
        raise ArithmeticError("the gradient of an LSTM is not finite")


def main() -> None:
    """Staged, so that the last stage tells where a crash happened."""
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")
    tf = imported("tensorflow")
    if tf is None:
        return
    if not hasattr(tf, "__version__"):
        fact("tensorflow.imports", False)  # a folder of that name without the package
        return
    _, archs = examine_build(tf)
    if not hasattr(tf, "config") or not attempt(lambda: tf.executing_eagerly()):
        facts("tensorflow.gpu", [bool(attempt(lambda: tf.test.is_gpu_available()))])  # TensorFlow 1
        heard("tensorflow.gpu")
        return
    gpus = examine_devices(tf, archs)
    trial("tensorflow.cpu", lambda: convolve(tf, "/CPU:0"), lambda: recur(tf, "/CPU:0"))
    if not gpus:
        return
    device = "/GPU:0"
    first = trial("tensorflow.kernel", lambda: add(tf, device))
    if not first:
        tell_fault("tensorflow", [first], [])
        return
    plain = [
        trial("tensorflow.matmul", lambda: multiply(tf, device)),
        trial("tensorflow.rnn.plain", lambda: recur(tf, device)),
    ]
    cudnn = [trial("tensorflow.conv", lambda: convolve(tf, device)), trial("tensorflow.rnn", lambda: step(tf, device))]
    if cudnn[0]:
        # TensorFlow refuses a release that it does not accept when it first uses cuDNN
        fact("tensorflow.cudnn.accepted", True)
    tell_fault("tensorflow", plain, cudnn)


if __name__ == "__main__":
    run(lambda: watched(main))
