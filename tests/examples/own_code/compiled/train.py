import torch


def double(x):
    return x * 2


fast = torch.compile(double, backend="eager")
print(fast(torch.ones(2)))
