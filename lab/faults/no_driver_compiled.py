"""A program compiled with nvcc runs on a machine without driver."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nothing: the machine has no NVIDIA driver, and a compiled CUDA program is started",
    cause="driver-not-loaded",
    acceptable=("driver-too-old",),  # CUDA gives the same error 35 for both; without probes nothing tells them apart
    environment="torch-cpu",
    program=("sh", "-c", "nvcc -o blur blur.cu && ./blur"),
    inject=lambda world: None,
    mended="a driver is nothing that the laboratory installs",
    needs=("no-driver", "nvcc"),
    stack="other",
)
