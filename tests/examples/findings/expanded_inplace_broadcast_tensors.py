# expanded_inplace: a
import torch
x = torch.arange(3.0)
y = torch.ones(2, 1)
a, b = torch.broadcast_tensors(x, y)  # cause
a *= b  # cause
print(a)
