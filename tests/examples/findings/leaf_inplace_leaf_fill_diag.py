# leaf_inplace: W
import torch
W = torch.nn.Parameter(torch.zeros(3, 3))
W.fill_diagonal_(1.0)  # cause
y = (W @ torch.ones(3)).sum()
y.backward()
