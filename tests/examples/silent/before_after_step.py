# shared_memory at 7: before
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
before = list(model.parameters())[0]
model(torch.ones(1, 2)).sum().backward()
opt.step()
after = list(model.parameters())[0]
print(torch.equal(before, after))
