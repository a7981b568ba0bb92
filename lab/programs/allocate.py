"""Load a large table into memory, as a recommender's embedding tables are; the first argument is its size in GiB."""

import sys

import torch

if __name__ == "__main__":
    rows = int(float(sys.argv[1]) * (1 << 30)) // (4 * 1024)
    print(f"embedding table of {rows} rows")
    table = torch.zeros(rows, 1024)
    table[::4096] = 1.0
    print("ready", tuple(table.shape))
