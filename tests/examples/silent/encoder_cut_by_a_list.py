# grad_none at 9: encoder.weight.grad, encoder(x).tolist()
import torch
from torch import nn
torch.manual_seed(0)
encoder, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*encoder.parameters(), *head.parameters()], lr=0.01)
x, y = torch.randn(6, 3), torch.randn(6, 1)
for _ in range(3):
    features = encoder(x).tolist()
    loss = (head(torch.tensor(features)) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
