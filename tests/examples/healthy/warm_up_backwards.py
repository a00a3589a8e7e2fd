import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(3):
    model(torch.randn(4, 3)).sum().backward()
    optimizer.zero_grad(set_to_none=True)
for _ in range(4):
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
