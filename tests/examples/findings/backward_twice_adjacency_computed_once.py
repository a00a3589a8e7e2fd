# backward_twice: adj
import torch
from torch import nn
torch.manual_seed(0)
emb = nn.Parameter(torch.rand(3, 2))
gcn = nn.Linear(2, 1)
opt = torch.optim.Adam([emb, *gcn.parameters()], lr=0.01)
adj = torch.softmax(emb @ emb.t(), dim=1)  # cause
x = torch.ones(3, 2)
for epoch in range(3):
    out = gcn(adj @ x)
    loss = out.pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
