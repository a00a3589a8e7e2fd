# backward_twice: reg
import torch
from torch import nn
model = nn.Linear(3, 1)
reg = sum(p.pow(2).sum() for p in model.parameters())  # cause
x, y = torch.ones(4, 3), torch.zeros(4, 1)
for _ in range(3):
    loss = ((model(x) - y) ** 2).mean() + 0.1 * reg
    model.zero_grad()
    loss.backward()
