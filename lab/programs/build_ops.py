"""Build the extension ops.cu with PyTorch's build helper (setup.py build_ext)."""

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

setup(
    name="fusedops",
    version="0.3.1",
    ext_modules=[CUDAExtension("fusedops._C", ["ops.cu"])],
    cmdclass={"build_ext": BuildExtension},
)
