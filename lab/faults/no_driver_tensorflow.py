"""There is no NVIDIA driver under TensorFlow's CUDA build."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing: the machine has no NVIDIA driver, and the script refuses to train without a GPU",
    cause="driver-not-loaded",
    environment="tf",
    program=("python", "fit_tf.py", "serious"),
    inject=lambda world: None,
    mended="a driver is nothing that the laboratory installs",
    needs=("no-driver",),
    stack="tensorflow",
)
