import torch
from torch import nn

torch.manual_seed(0)
weight = nn.Parameter(torch.empty(2, 3))
nn.init.xavier_uniform_(weight)
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    loss = (torch.randn(4, 3) @ weight.t() - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
