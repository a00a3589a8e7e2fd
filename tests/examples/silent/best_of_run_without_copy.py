# shared_memory at 16: weight
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.3)
best, lowest = {}, float("inf")
x, y = torch.randn(5, 2), torch.randn(5, 1)


def keep(value):
    global best, lowest
    if value < lowest:
        lowest = value
        best = {name: p.detach().to("cpu") for name, p in model.named_parameters()}


for epoch in range(4):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    keep(loss.item())
print(best["weight"], model.weight)
