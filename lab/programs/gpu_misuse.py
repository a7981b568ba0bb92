"""Typical mistakes of training scripts on a GPU, one function each; the first argument names it, 'right' does it right."""

import sys

import torch
from torch import nn

RIGHT = "right" in sys.argv
DEVICE = torch.device("cuda")


def labels():
    """A label beyond the number of classes: device-side assert, and the cuDNN and cuBLAS errors that follow it."""
    net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 30 * 30, 10)).to(DEVICE)
    images = torch.randn(4, 3, 32, 32, device=DEVICE)
    target = torch.tensor([1, 2, 3, 4 if RIGHT else 10], device=DEVICE)
    for step in range(2):
        try:
            loss = nn.functional.cross_entropy(net(images), target)
            loss.backward()
            print("step", step, loss.item())
        except RuntimeError as error:
            print("step", step, "failed:", error, flush=True)
            if step == 1:
                raise


def embedding():
    """A token id beyond the vocabulary."""
    table = nn.Embedding(1000, 16).to(DEVICE)
    print(table(torch.tensor([[5, 900 if RIGHT else 1000]], device=DEVICE)).sum().item())


def devices():
    """The network is on the GPU, the batch is not."""
    net = nn.Conv2d(3, 8, 3).to(DEVICE)
    images = torch.randn(2, 3, 16, 16)
    print(net(images.to(DEVICE) if RIGHT else images).shape)


def ordinal():
    """The configuration file names a GPU that this machine does not have."""
    index = 0 if RIGHT else torch.cuda.device_count() + 3
    print(nn.Linear(4, 4).to(torch.device("cuda", index)))


def rnn():
    """Gradients through a cuDNN LSTM in evaluation mode."""
    lstm = nn.LSTM(16, 32).to(DEVICE)
    if not RIGHT:
        lstm.eval()
    lstm(torch.randn(5, 2, 16, device=DEVICE))[0].sum().backward()
    print("backward done")


def double_backward():
    """A gradient penalty through a cuDNN GRU."""
    gru = nn.GRU(16, 32).to(DEVICE)
    series = torch.randn(5, 2, 16, device=DEVICE, requires_grad=True)
    with torch.backends.cudnn.flags(enabled=not RIGHT):
        gradient = torch.autograd.grad(gru(series)[0].sum(), series, create_graph=True)[0]
    gradient.square().sum().backward()
    print("penalty", gradient.norm().item())


def layout():
    """cuDNN's convolution is called with a type that cuDNN has not."""
    kind = torch.float32 if RIGHT else torch.bool
    images = torch.ones(1, 3, 8, 8, device=DEVICE).to(kind)
    weight = torch.ones(4, 3, 3, 3, device=DEVICE).to(kind)
    print(torch.cudnn_convolution(images, weight, [0, 0], [1, 1], [1, 1], 1, False, False, False).shape)


def index():
    """Upsampling to more elements than 32-bit indices reach."""
    side = 64 if RIGHT else 24000
    image = torch.zeros(1, 8, 32, 32, device=DEVICE, dtype=torch.float16)
    print(nn.functional.interpolate(image, size=(side, side), mode="nearest").shape)


def memory():
    """One batch too large for the card."""
    free, total = torch.cuda.mem_get_info()
    print(f"{free >> 20} MiB of {total >> 20} MiB are free")
    batch = torch.empty((1 << 20) if RIGHT else int(total * 1.5), dtype=torch.uint8, device=DEVICE)
    print(batch.shape)


def fragments():
    """Memory in pieces: a block is cut up, every second piece is freed, and then one is wanted that is larger than any hole."""
    free, _ = torch.cuda.mem_get_info()
    whole = torch.empty(int(free * 0.9), dtype=torch.uint8, device=DEVICE)
    del whole  # PyTorch keeps the block and serves the next requests from it
    piece = int(free * 0.9) // 60
    held = [torch.empty(piece, dtype=torch.uint8, device=DEVICE) for _ in range(60)]
    del held[::2]
    wanted = piece // 2 if RIGHT else piece * 8
    for name, size in (
        ("allocated", torch.cuda.memory_allocated()),
        ("reserved", torch.cuda.memory_reserved()),
        ("wanted", wanted),
    ):
        print(name, size >> 20, "MiB")
    print(torch.empty(wanted, dtype=torch.uint8, device=DEVICE).shape)


def workspace():
    """A convolution whose every algorithm wants more workspace than the process may take."""
    _, total = torch.cuda.mem_get_info()
    images = torch.randn(8, 64, 512, 512, device=DEVICE)
    weight = torch.randn(64, 64, 7, 7, device=DEVICE, requires_grad=True)
    torch.backends.cudnn.benchmark = True
    if not RIGHT:
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (600 << 20)) / total)
    nn.functional.conv2d(images, weight, padding=3).sum().backward()
    print("gradient", weight.grad.norm().item())


def fork():
    """CUDA is used, and then a DataLoader forks workers that use it too."""
    from torch.utils.data import DataLoader, Dataset

    class Samples(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, number):
            return torch.ones(2) * number if RIGHT else torch.ones(2, device="cuda") * number

    torch.zeros(1, device=DEVICE)
    for batch in DataLoader(Samples(), batch_size=2, num_workers=1, multiprocessing_context="fork"):
        print(batch.to(DEVICE).sum().item())


def checkpoint():
    """A checkpoint of the fourth GPU of another machine."""
    from torch import serialization

    serialization.register_package(0, lambda storage: "cuda:3", lambda storage, location: None)
    torch.save({"w": torch.zeros(3)}, "epoch7.pt")
    serialization._package_registry.pop(0)
    print(torch.load("epoch7.pt", map_location="cuda:0" if RIGHT else None))


def preallocated():
    """JAX takes nearly all memory in the same process, and then PyTorch wants a cuDNN handle."""
    import os

    os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"] = ".995"
    if RIGHT:
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax.numpy as jnp

    print("jax", jnp.ones(8).sum())
    net = nn.Conv2d(3, 64, 3).to(DEVICE)
    print("torch", net(torch.randn(16, 3, 224, 224, device=DEVICE)).shape)


if __name__ == "__main__":
    print("torch", torch.__version__, "CUDA", torch.version.cuda, "on", torch.cuda.get_device_name(0))
    globals()[sys.argv[1]]()
