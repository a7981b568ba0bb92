"""The toolkit's stub of libcuda stands in front of the driver's."""

from lab.fault import Fault
from lab.faults.libcuda_stub import inject, mend

FAULT = Fault(
    breaks="LD_LIBRARY_PATH leads to the toolkit's stub of libcuda.so.1",
    cause="library-shadowing",
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=mend,
    mended="the stub's folder is taken off LD_LIBRARY_PATH",
    needs=("torch-gpu",),
)
