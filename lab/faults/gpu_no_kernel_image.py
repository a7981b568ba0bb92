"""A program was compiled for another GPU, without PTX."""

from lab.environments import Missing
from lab.fault import Fault
from lab.needs import gpus
from lab.world import World


def inject(world: World) -> None:
    """Compile for the next architecture that this GPU is not, machine code only."""
    own = gpus()[0]["compute_cap"].replace(".", "")
    other = "100" if own != "100" else "90"
    if world.run(
        "nvcc", "-gencode", f"arch=compute_{other},code=sm_{other}", "-o", "blur", "blur.cu", seconds=120
    ).code:
        raise Missing(f"needs an nvcc that compiles for sm_{other}")


FAULT = Fault(
    breaks="a program with machine code for another architecture only",
    cause="gpu-arch-unsupported",
    environment="given",
    program=("./blur",),
    inject=inject,
    mend=lambda world: world.compile("blur.cu", "blur"),
    mended="compiled for this GPU",
    settled=False,
    needs=("torch-gpu", "nvcc"),
    stack="other",
)
