# grad_none: backbone
import torch
from torch import nn
model = nn.ModuleDict({"backbone": nn.Linear(2, 3), "head": nn.Linear(3, 1)})
model["backbone"].requires_grad_(False)  # cause
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model["head"](torch.relu(model["backbone"](torch.ones(2, 2)))).sum()
loss.backward()
for name, p in model.named_parameters():
    print(name, p.grad.norm())
