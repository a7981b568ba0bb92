"""There is no NVIDIA driver, and a program insists on the GPU."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing: the machine has no NVIDIA driver, and the training script asks for cuda",
    cause="driver-not-loaded",
    environment="torch-cuda",
    program=("python", "train.py", "--device", "cuda"),
    inject=lambda world: None,
    mended="a driver is nothing that the laboratory installs",
    needs=("no-driver",),
)
