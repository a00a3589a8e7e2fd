# gradients_dropped at 11: model, optimizer
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
accumulate = 3
for i in range(9):
    x = torch.randn(2, 3)
    loss = model(x).pow(2).mean() / accumulate
    model.zero_grad()
    loss.backward()
    if (i + 1) % accumulate == 0:
        optimizer.step()
