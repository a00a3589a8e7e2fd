# not_contiguous: y
import torch
x = torch.rand(2, 3)
y = x.t()  # cause
z = y.view(6)  # cause
