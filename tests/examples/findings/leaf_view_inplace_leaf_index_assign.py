# leaf_view_inplace: emb
import torch
emb = torch.zeros(3, 2, requires_grad=True)
emb[0] = torch.ones(2)  # cause
