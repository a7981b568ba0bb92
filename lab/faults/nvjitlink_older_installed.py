"""An older nvJitLink was installed over the one that cuSPARSE needs."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nvidia-nvjitlink-cu12 is 12.1.105, cuSPARSE and PyTorch want 12.4.127",
    cause="conflicting-packages",
    acceptable=("library-shadowing",),  # a version that nobody chose; what the loader says is the same
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=lambda world: world.install("nvidia-nvjitlink-cu12==12.1.105"),
    mend=lambda world: world.install("nvidia-nvjitlink-cu12==12.4.127"),
    mended="nvidia-nvjitlink-cu12==12.4.127 is installed",
)
