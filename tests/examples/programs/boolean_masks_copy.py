# A mask and an index list copy, a slice views; assignment through them writes.
import torch
x = torch.arange(4.0)
masked, listed, sliced = x[x > 1], x[[0, 1]], x[:2]
masked[0] = listed[0] = sliced[0] = 16
print(x)
x[x > 2] = -1
x[[1, 2]] *= 4
print(x, masked, listed, sliced)
