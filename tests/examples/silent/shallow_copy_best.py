# shared_memory at 8: best
import copy
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
best = copy.copy(model)
before = best.weight.sum().item()
for _ in range(2):
    opt.zero_grad()
    model(torch.ones(3, 2)).pow(2).mean().backward()
    opt.step()
print(before, best.weight.sum().item(), torch.equal(best.weight, model.weight))
