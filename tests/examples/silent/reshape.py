# shared_memory at 5: x, m
import torch
x = torch.arange(6.)
m = x.reshape(2, 3)
m[0] = -1
print(x)
