"""onnxruntime was uninstalled from beside onnxruntime-gpu, and took the shared files with it."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Install both, remove one."""
    world.install("onnxruntime==1.22.0")
    world.uninstall("onnxruntime")


FAULT = Fault(
    breaks="onnxruntime was installed beside onnxruntime-gpu and uninstalled again, which took the files that both own",
    cause="conflicting-packages",
    acceptable=("incomplete-install",),
    environment="ort",
    program=("python", "serve.py", "gpu"),
    inject=inject,
    mend=lambda world: world.install("onnxruntime-gpu==1.22.0"),
    mended="onnxruntime-gpu is installed again",
    afterwards="other",
    stack="onnxruntime",
)
