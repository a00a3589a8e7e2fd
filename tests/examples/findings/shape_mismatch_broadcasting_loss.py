# shape_mismatch: pred target
import torch
pred = torch.rand(3, 4, requires_grad=True)
target = torch.rand(5, 4)
loss = (pred - target).pow(2).mean()  # cause
