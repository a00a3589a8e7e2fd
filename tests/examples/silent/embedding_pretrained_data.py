# parameter_detached at 6: emb
import torch
from torch import nn
emb = nn.Embedding(3, 2)
opt = torch.optim.SGD(emb.parameters(), lr=0.1)
emb.weight = nn.Parameter(torch.ones(3, 2))
for _ in range(2):
    opt.zero_grad()
    emb(torch.tensor([0, 1])).sum().backward()
    opt.step()
print(emb.weight)
