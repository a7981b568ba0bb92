"""PyTorch was installed as a CPU build."""

from lab.fault import Fault

FAULT = Fault(
    breaks="PyTorch is the CPU build, the script asks for cuda",
    cause="cpu-only-build",
    environment="torch-cpu",
    program=("python", "train.py", "--device", "cuda"),
    inject=lambda world: None,
    mend=lambda world: world.change("torch-cuda"),
    mended="a CUDA build of PyTorch is installed",
    afterwards="driver-not-loaded",
    needs=("no-driver",),
    ci=True,
)
