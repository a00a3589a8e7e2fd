# view(dtype) reads the same bytes as other numbers.
import torch
x = torch.tensor([1.0, 2.0])
bits = x.view(torch.int32)
print(bits, bits.shape)
bits[0] = 0
halves = x.view(torch.int16)
print(x, halves, halves.stride())
