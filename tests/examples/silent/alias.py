# shared_memory at 5: a, b
import torch
a = torch.zeros(3)
b = a
b += 1
print(a)
