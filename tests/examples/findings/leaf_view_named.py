# leaf_view_inplace: v x
import torch
x = torch.zeros(2, 2, requires_grad=True)
v = x.view(4)
v.add_(1)  # cause
