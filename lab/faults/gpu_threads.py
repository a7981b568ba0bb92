"""A kernel is launched with 2048 threads in a block."""

from lab.kernels import kernel_fault

FAULT = kernel_fault("a block of 2048 threads", cause="launch-resources", kernel="threads")
