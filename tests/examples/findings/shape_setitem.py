# shape_mismatch: x
import torch
x = torch.zeros(3)
x[:2] = torch.ones(3)  # cause
