"""What a bug report asks for: the versions of the stack, and a first call into cuDNN."""

import torch

if __name__ == "__main__":
    print("torch", torch.__version__, "CUDA", torch.version.cuda)
    print("cuDNN", torch.backends.cudnn.version())
