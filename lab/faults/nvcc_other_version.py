"""nvcc is of another CUDA major than PyTorch."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nvcc is not of CUDA 12, PyTorch was built with 12.4",
    cause="toolkit-build-mismatch",
    environment="torch-cuda",
    program=("python", "build_ops.py", "build_ext", "--inplace"),
    inject=lambda world: None,
    mended="toolkits of other releases are nothing that the laboratory installs",
    needs=("nvcc-not-12",),
)
