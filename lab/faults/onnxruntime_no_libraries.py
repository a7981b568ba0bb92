"""onnxruntime-gpu is installed and none of the CUDA libraries that it wants."""

from lab.fault import Fault
from lab.world import World


def mend(world: World) -> None:
    """Show the loader the CUDA 12 and cuDNN 9 wheels of another environment."""
    wheels = world.cache.environment("torch-cuda") / "lib"
    world.front(*sorted(path for path in wheels.glob("python3*/site-packages/nvidia/*/lib")))


FAULT = Fault(
    breaks="onnxruntime-gpu (CUDA 12) is installed without any CUDA 12 library",
    cause="cuda-library-not-found",
    acceptable=("cuda-framework-mismatch",),  # on a machine with another toolkit
    environment="ort",
    program=("python", "serve.py", "gpu"),
    inject=lambda world: None,
    mend=mend,
    mended="the CUDA 12 and cuDNN 9 wheels are put on LD_LIBRARY_PATH",
    afterwards="other",  # without a driver ONNX Runtime 1.22 ends by SIGSEGV once it has its libraries
    needs=("no-driver",),
    stack="onnxruntime",
)
