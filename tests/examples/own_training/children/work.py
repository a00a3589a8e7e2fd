import torch


def sample(k):
    return (torch.arange(3) + k).div(8).tolist()
