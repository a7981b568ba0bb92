"""An extension is built where no CUDA toolkit is."""

from lab.fault import Fault
from lab.world import World

FAULT = Fault(
    breaks="there is no nvcc and no /usr/local/cuda, and an extension is built",
    cause="cuda-home-missing",
    environment="torch-cuda",
    program=("python", "build_ops.py", "build_ext", "--inplace"),
    inject=World.hide_toolkit,
    mend=lambda world: world.setup.clear(),
    mended="the toolkit is there again",
    afterwards="other",
    needs=("mounts",),
)
