"""TensorFlow was installed as a CPU build."""

from lab.fault import Fault

FAULT = Fault(
    breaks="tensorflow-cpu is installed, the script pins its network to the GPU",
    cause="cpu-only-build",
    acceptable=("driver-not-loaded",),  # there is none either; TensorFlow says the same of both
    environment="tf-cpu",
    program=("python", "fit_tf.py", "gpu"),
    inject=lambda world: None,
    mend=lambda world: world.change("tf"),
    mended="tensorflow, the CUDA build, is installed",
    afterwards="driver-not-loaded",
    needs=("no-driver",),
    ci=True,
    stack="tensorflow",
)
