# shape_mismatch: a b
import torch
a = torch.rand(2, 3)
b = torch.rand(3, 2)
torch.cat([a, b], dim=1)  # cause
