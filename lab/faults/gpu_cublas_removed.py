"""cuBLAS is gone from the environment of a machine with a GPU."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """Delete the library wherever the wheels of CUDA 12 or 13 keep it."""
    for path in [
        *world.site.glob("nvidia/cublas/lib/libcublas.so.*"),
        *world.site.glob("nvidia/cu13/lib/libcublas.so.*"),
    ]:
        path.unlink()


FAULT = Fault(
    breaks="libcublas is deleted from the wheels",
    cause="cuda-library-not-found",
    acceptable=("cuda-framework-mismatch", "library-shadowing", "incomplete-install"),
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    mend=World.reset,
    mended="the library is there again",
    needs=("torch-gpu",),
)
