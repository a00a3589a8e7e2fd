# multi_view_inplace: first
import torch
x = torch.rand(4, requires_grad=True) * 2
first, second = x.split(2)  # cause
first.mul_(2)  # cause
