# leaf_view_inplace: emb
import torch
from torch import nn
emb = nn.Embedding(5, 3)
emb.weight[0].fill_(0)  # cause
out = emb(torch.tensor([0, 2]))
out.sum().backward()
