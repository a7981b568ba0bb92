"""onnxruntime was installed on top of onnxruntime-gpu."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Remove both and install the one that is wanted."""
    world.uninstall("onnxruntime", "onnxruntime-gpu")
    world.install("onnxruntime-gpu==1.22.0")


FAULT = Fault(
    breaks="onnxruntime and onnxruntime-gpu are both installed; the CPU package's files are on top",
    cause="conflicting-packages",
    by_log=("cpu-only-build",),
    environment="ort",
    program=("python", "serve.py", "gpu"),
    inject=lambda world: world.install("onnxruntime==1.22.0"),
    mend=mend,
    mended="both are removed, onnxruntime-gpu is installed",
    afterwards="other",
    stack="onnxruntime",
)
