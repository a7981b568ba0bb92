"""Read batches with DataLoader workers, as every training script does; with CACHE=1 a worker keeps every sample it read."""

import os

import torch
from torch.utils.data import DataLoader, Dataset

CACHE = os.environ.get("CACHE") == "1"


class Events(Dataset):
    kept = []

    def __len__(self):
        return 400

    def __getitem__(self, index):
        if CACHE:
            self.kept.append(bytearray(os.urandom(1 << 20) * 24))
        return torch.randn(3, 256, 256), index % 7


if __name__ == "__main__":
    print("torch", torch.__version__)
    for number, (images, _) in enumerate(DataLoader(Events(), batch_size=32, num_workers=2)):
        if number % 4 == 0:
            print("batch", number, tuple(images.shape), float(images.mean()))
