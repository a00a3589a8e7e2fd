import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
norms = []
for x in torch.randn(3, 4, 3):
    optimizer.zero_grad()
    model(x).pow(2).mean().backward()
    norms.append(model.weight.grad.norm().item())
print(norms)
