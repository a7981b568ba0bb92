"""Makes the logs that the benchmarks read, the same bytes each time: ``python benchmarks/inputs.py SHAPE MEGABYTES > FILE``."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator

FAILURE = b"""Traceback (most recent call last):
  File "/home/user/train.py", line 42, in <module>
    loss.backward()
  File "/opt/conda/lib/python3.9/site-packages/torch/_tensor.py", line 396, in backward
    torch.autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)
RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED
"""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _training(chance: random.Random) -> bytes:
    """A quarter of a megabyte of what a training run prints while nothing is wrong."""
    lines = []
    for step in range(2000):
        kind = chance.random()
        if kind < 0.7:
            lines.append(
                f"[2024-05-{chance.randint(10, 28)} {chance.randint(10, 23)}:{chance.randint(10, 59)}:{chance.randint(10, 59)},"
                f"{chance.randint(100, 999)}] [INFO] [trainer.py:{chance.randint(100, 999)}:step] epoch {chance.randint(0, 99)} "
                f"iter {step} loss {9 * chance.random():.4f} lr {chance.random() / 1e3:.2e} "
                f"throughput {chance.randint(100, 900)} samples/s"
            )
        elif kind < 0.9:
            lines.append(
                f"Epoch {chance.randint(0, 99)}:  {chance.randint(1, 99)}%|{'#' * chance.randint(1, 20)}  | {step}/2000 "
                f"[00:{chance.randint(10, 59)}<01:{chance.randint(10, 59)}, {9 * chance.random():.2f}it/s, v_num=3]"
            )
        else:
            name = "".join(chance.choice(_LETTERS) for _ in range(9))
            lines.append(f"downloading shard-{step:05d}.tar of {name}: {chance.randint(10, 900)} MB; decoding images")
    return ("\n".join(lines) + "\n").encode()


def training(chance: random.Random) -> Iterator[bytes]:
    """A healthy training run that fails at its end."""
    blocks = [_training(chance) for _ in range(8)]
    while True:
        yield chance.choice(blocks)


def repeated(chance: random.Random) -> Iterator[bytes]:
    """The same error after every kilobyte: a million times in a gigabyte."""
    blocks = [_training(chance)[: 1 << 10] for _ in range(64)]
    while True:
        yield chance.choice(blocks)
        yield b"\nRuntimeError: CUDA error: out of memory\n"


def line(chance: random.Random) -> Iterator[bytes]:
    """One line without an end."""
    while True:
        yield _training(chance).replace(b"\n", b" ")


def tracebacks(chance: random.Random) -> Iterator[bytes]:
    """Tracebacks of which no two are alike."""
    while True:
        name = "".join(chance.choice(_LETTERS) for _ in range(12))
        yield (
            f'Traceback (most recent call last):\n  File "/srv/{name}.py", line {chance.randint(1, 9999)}, in {name[:5]}\n'
            f"    {name[3:9]}({chance.random()})\nKeyError: '{name[::-1]}'\n"
        ).encode()


def ranks(chance: random.Random) -> Iterator[bytes]:
    """Ten thousand processes that print through one another."""
    while True:
        yield f"[rank{chance.randint(0, 9999)}]: step {chance.randint(1, 9999)} loss {chance.random():.4f}\n".encode()


def near(chance: random.Random) -> Iterator[bytes]:
    """Messages that are nearly those of rules: work for the fuzzy stage."""
    texts = (
        "Loaded runtme CuDNN libary: 8.0.5 but sorce was compiled with: 8.1",
        "RuntimeError: cuDNN eror: CUDNN_STATUS_NOT_INITIALIZE_",
        "Failed to get convoluton algoritm. This is probaly because cuDNN faild to initialize",
        "Could not lod dynamic libary 'libcudnn.so.8'; dlerror: cannot opn shared object",
    )
    while True:
        word = "".join(chance.choice(_LETTERS) for _ in range(6))
        yield f"{chance.choice(texts)} {word}\n".encode()


def words(chance: random.Random) -> Iterator[bytes]:
    """Nothing but literals that rules look for: the worst that the scan can meet."""
    texts = (
        b"CUDNN_STATUS_NOT_INITIALIZED ",
        b"out of memory\n",
        b"libcudnn.so.8 ",
        b"CUDA error: ",
        b"Traceback (most recent ",
    )
    while True:
        yield chance.choice(texts)


def escapes(_chance: random.Random) -> Iterator[bytes]:
    """Colours and nothing else."""
    while True:
        yield b"\x1b[31m"


def tokens(_chance: random.Random) -> Iterator[bytes]:
    """What masking looks for."""
    while True:
        yield b"token=eyJaaaaaaaaaaaa."


def empty(_chance: random.Random) -> Iterator[bytes]:
    """Empty lines."""
    while True:
        yield b"\n" * 1000


SHAPES: dict[str, Callable[[random.Random], Iterator[bytes]]] = {
    shape.__name__: shape
    for shape in (training, repeated, line, tracebacks, ranks, near, words, escapes, tokens, empty)
}


def pieces(shape: str, size: int) -> Iterator[bytes]:
    """About ``size`` bytes of a shape, in pieces; a failure stands at the end."""
    written = len(FAILURE)
    for piece in SHAPES[shape](random.Random(7)):
        if written + len(piece) > size:
            break
        written += len(piece)
        yield piece
    yield b"\n" + FAILURE


if __name__ == "__main__":
    for made in pieces(sys.argv[1], int(float(sys.argv[2]) * 1e6)):
        sys.stdout.buffer.write(made)
