# shape_mismatch: x
import torch
x = torch.rand(2, 5)
x.view(3, 4)  # cause
