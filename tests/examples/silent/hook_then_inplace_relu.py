# hook_misses at 8: h
import torch
from torch import nn
got = []
lin = nn.Linear(2, 2)
h = lin(torch.ones(1, 2))
h.register_hook(lambda g: got.append(g))
h.add_(1.0)
h.pow(2).sum().backward()
print(got)
