import torch
from torch import nn

torch.manual_seed(0)
model = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(2, 1)})
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for name in ("a", "b", "a"):
    optimizer.zero_grad()
    model[name](torch.randn(3, 2)).pow(2).mean().backward()
    optimizer.step()
