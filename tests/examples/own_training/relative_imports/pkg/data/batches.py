import torch


def batches(count):
    for _ in range(count):
        yield torch.randn(5, 4)
