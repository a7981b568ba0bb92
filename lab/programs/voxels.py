"""Use the compiled operator voxels.so."""

import torch

if __name__ == "__main__":
    print("torch", torch.__version__)
    torch.ops.load_library("./voxels.so")
    print("voxels.so is there")
