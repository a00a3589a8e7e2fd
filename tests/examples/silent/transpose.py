# shared_memory at 5: b, a
import torch
a = torch.ones(2, 3)
b = a.t()
a.mul_(5)
print(b)
