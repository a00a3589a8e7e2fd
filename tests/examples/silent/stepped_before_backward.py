# gradients_dropped at 8: optimizer
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 3)).pow(2).mean()
    optimizer.step()
    loss.backward()
