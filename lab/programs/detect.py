"""Drop overlapping boxes with torchvision's operators."""

import torch
import torchvision

if __name__ == "__main__":
    print("torch", torch.__version__, "torchvision", torchvision.__version__)
    boxes = torch.tensor([[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 11.0, 11.0], [20.0, 20.0, 30.0, 30.0]])
    print(torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7]), 0.5))
