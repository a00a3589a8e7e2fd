# shared_memory: a
import torch
a = torch.tensor([10, 11, 12, 13, 14, 13], dtype=torch.float)
a[1:] /= a[:len(a) - 1]  # cause
print(a)
