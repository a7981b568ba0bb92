"""Everything that asks the GPU for something hangs: probes have to end by their time-out, and the tool has to answer."""

from lab.fault import Fault
from lab.world import World


def inject(world: World) -> None:
    """PyTorch's import stops for an hour, in the program and in the probe alike."""
    (world.site / "sitecustomize.py").write_text(
        "import sys, time\n"
        "class Hang:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch.cuda':\n"
        "            time.sleep(3600)\n"
        "sys.meta_path.insert(0, Hang())\n"
    )


FAULT = Fault(
    breaks="the import of torch.cuda never ends",
    cause=None,
    environment="given",
    program=("python", "train.py", "--device", "cuda"),
    inject=inject,
    endless=True,
    needs=("torch-gpu",),
    seconds=30.0,
)
