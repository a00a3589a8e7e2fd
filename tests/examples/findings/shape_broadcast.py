# shape_mismatch: x y
import torch
x = torch.rand(3, 4)
y = torch.rand(3)
z = x + y  # cause
