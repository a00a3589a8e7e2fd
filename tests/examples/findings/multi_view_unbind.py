# multi_view_inplace: rows
import torch
rows = torch.rand(2, 2, requires_grad=True).exp().unbind(0)  # cause
rows[0].add_(1)  # cause
