# Zero dimensions and zero elements.
import torch
scalar, empty = torch.tensor(4), torch.empty(2, 0)
print(scalar.shape, scalar.item() + 1, empty.numel(), empty.sum(), empty.stride())
print([float(v) for v in torch.arange(2)], len(torch.zeros(3)), bool(torch.tensor(0)), scalar.ndim)
