"""A kernel with 200 registers a thread is launched with 1024 threads in a block."""

from lab.kernels import kernel_fault

FAULT = kernel_fault(
    "a block of 1024 threads of a kernel that needs more registers than the GPU has for them",
    cause="launch-resources",
    kernel="registers",
)
