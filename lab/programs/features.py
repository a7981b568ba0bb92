"""Extract features on the GPU in a pool of workers; START_METHOD says how they are started, fork is the default."""

import concurrent.futures
import multiprocessing
import os

import torch

device = "cuda"
method = os.environ.get("START_METHOD", "fork")
if __name__ == "__main__":
    try:
        torch.cuda.init()  # warm up early so that the workers start fast
    except RuntimeError as error:
        print("warm-up:", type(error).__name__)


def mel(path):
    signal = torch.randn(16000, device=device)
    return (
        torch.stft(signal, 400, window=torch.hann_window(400, device=device), return_complex=True).abs().mean().item()
    )


if __name__ == "__main__":
    files = [f"clip_{index:04d}.wav" for index in range(8)]
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        for path, value in zip(files, pool.map(mel, files)):
            print(path, f"{value:.3f}")
