# leaf_inplace: x
import torch
x = torch.ones(3, requires_grad=True)
x += 1  # cause
