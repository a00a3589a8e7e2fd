# no_graph: code loss
import torch
from torch import nn
torch.manual_seed(0)
enc, emb = nn.Linear(2, 4), torch.randn(4, 3)
h = enc(torch.ones(2, 2)).softmax(-1)
code = h.argmax(-1)  # cause
z = emb[code]
loss = z.pow(2).mean()
loss.backward()
