"""Use the compiled helper histogram.so beside PyTorch."""

import torch

if __name__ == "__main__":
    print("torch", torch.__version__)
    torch.classes.load_library("./histogram.so")
    print("histogram.so is there")
