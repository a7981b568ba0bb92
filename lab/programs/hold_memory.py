"""Another user's process: it holds 95 % of the free GPU memory and waits."""

import time

import torch

if __name__ == "__main__":
    free, _ = torch.cuda.mem_get_info()
    held = torch.empty(int(free * 0.95), dtype=torch.uint8, device="cuda")
    print("holding", held.numel(), flush=True)
    time.sleep(3600)
