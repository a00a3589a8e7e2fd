import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * (step + 1) / 5
    loss = model(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
