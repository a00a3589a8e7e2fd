import torch
from torch import nn
torch.manual_seed(0)
experts = nn.ModuleList([nn.Linear(3, 1) for _ in range(4)])
optimizer = torch.optim.Adam(experts.parameters(), lr=0.01)
for i in range(3):
    loss = experts[i](torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
