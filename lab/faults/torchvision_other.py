"""torchvision was built for another torch."""

from lab.fault import Fault

FAULT = Fault(
    breaks="torchvision 0.20.1 (for torch 2.5) beside torch 2.6",
    cause="conflicting-packages",
    acceptable=("abi-mismatch",),
    environment="torch-cuda",
    program=("python", "detect.py"),
    inject=lambda world: world.install("torchvision==0.20.1", "pillow==11.1.0"),
    mend=lambda world: world.install("torchvision==0.21.0"),
    mended="torchvision 0.21.0 is installed",
)
