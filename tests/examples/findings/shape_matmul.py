# shape_mismatch: a b
import torch
a = torch.rand(2, 3)
b = torch.rand(2, 4)
c = a @ b  # cause
