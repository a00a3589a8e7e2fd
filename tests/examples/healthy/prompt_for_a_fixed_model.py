import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
prompt = nn.Parameter(torch.zeros(1, 4))
optimizer = torch.optim.Adam([prompt], lr=0.1)
for _ in range(4):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 4) + prompt), torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
