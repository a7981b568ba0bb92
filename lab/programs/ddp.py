"""Train with DistributedDataParallel; BACKEND says nccl or gloo, PG_TIMEOUT is in seconds."""

import datetime
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    backend = os.environ.get("BACKEND", "nccl")
    timeout = datetime.timedelta(seconds=float(os.environ.get("PG_TIMEOUT", "60")))
    dist.init_process_group(backend, timeout=timeout)
    rank = dist.get_rank()
    device = "cpu"
    if backend == "nccl":
        torch.cuda.set_device(int(os.environ.get("FORCE_DEVICE", os.environ.get("LOCAL_RANK", "0"))))
        device = "cuda"
    model = DistributedDataParallel(nn.Linear(64, 4).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(int(os.environ.get("STEPS", "3"))):
        loss = model(torch.randn(16, 64, device=device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"[rank {rank}] step {step} loss {loss.item():.4f}", flush=True)
        time.sleep(float(os.environ.get("STEP_SECONDS", "0")))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
