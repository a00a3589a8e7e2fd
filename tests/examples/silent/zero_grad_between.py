# grad_none at 9: model.weight
import torch
from torch import nn
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = model(torch.ones(3, 2)).pow(2).mean()
    loss.backward()
    opt.zero_grad()
    opt.step()
    print(model.weight)
