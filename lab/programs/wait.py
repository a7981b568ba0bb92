"""A program that hangs in a kernel that never ends until its time is up (WAIT=0: it does not)."""

import os
import time

import torch

if __name__ == "__main__":
    print("torch", torch.__version__, torch.ones(3, device="cuda").sum().item(), flush=True)
    time.sleep(float(os.environ.get("WAIT", "0")))
