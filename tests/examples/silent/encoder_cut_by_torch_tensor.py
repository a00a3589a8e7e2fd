# grad_none at 10: encoder.weight.grad
import torch
from torch import nn
torch.manual_seed(0)
encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01)
x, y = torch.randn(6, 3), torch.randn(6, 1)
for _ in range(3):
    h = encoder(x)
    h = torch.tensor(h)
    loss = (head(h) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
