# leaf_view_inplace: w
import torch
w = torch.nn.Parameter(torch.empty(2, 4))
a, b = w[:, :2], w[:, 2:]
torch.nn.init.zeros_(w.data)
a.add_(1.0)  # cause
