"""Train a small segmentation network for a few steps; --device auto takes the GPU where there is one, cuda insists on it."""

import argparse
import os

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 8, 3, padding=1)
        )
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        return self.head(self.features(x))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--device", default="auto")
    arguments.add_argument("--resume", default="")
    arguments.add_argument("--steps", type=int, default=3)
    options = arguments.parse_args()
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}")
    device = options.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    net = Net().to(device)
    if options.resume:
        net.load_state_dict(torch.load(options.resume, map_location=os.environ.get("MAP_LOCATION"))["model"])
    optimizer = torch.optim.Adam(net.parameters())
    for step in range(options.steps):
        images = torch.randn(4, 3, 64, 64, device=device)
        labels = torch.randint(0, 2, (4, 64, 64), device=device)
        loss = nn.functional.cross_entropy(net(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
