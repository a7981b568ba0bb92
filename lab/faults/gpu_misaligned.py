"""A kernel writes to a misaligned address."""

from lab.kernels import kernel_fault

FAULT = kernel_fault("a kernel writes a double to an odd address", cause="illegal-memory-access", kernel="misaligned")
