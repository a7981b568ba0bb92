"""An older cuDNN was installed over the one that PyTorch wants."""

from lab.fault import Fault

FAULT = Fault(
    breaks="nvidia-cudnn-cu12 is 9.0.0.312, PyTorch was built with 9.1.0",
    cause="cudnn-version-mismatch",
    acceptable=("conflicting-packages",),
    environment="torch-cuda",
    program=("python", "train.py"),
    inject=lambda world: world.install("nvidia-cudnn-cu12==9.0.0.312"),
    mend=lambda world: world.install("nvidia-cudnn-cu12==9.1.0.70"),
    mended="nvidia-cudnn-cu12==9.1.0.70 is installed",
)
