# same_module at 13: best, model
import torch
from torch import nn
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.5)
best = None
for epoch in range(3):
    opt.zero_grad()
    loss = model(torch.ones(1, 2)).pow(2).sum()
    loss.backward()
    opt.step()
    if best is None:
        best = model.state_dict()
print(best['weight'])
