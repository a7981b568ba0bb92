"""A kernel reads far beyond its array."""

from lab.kernels import kernel_fault

FAULT = kernel_fault("a kernel reads and writes beyond its array", cause="illegal-memory-access", kernel="illegal")
