import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(model(torch.randn(4, 3)), torch.tensor([0, 1, 0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for _ in range(3):
    x = torch.randn(1, 3, requires_grad=True)
    model.zero_grad()
    model(x)[0, 1].backward()
    print(x.grad.abs().sum().item())
