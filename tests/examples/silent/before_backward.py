# grad_none at 9: model
import torch
from torch import nn
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.ones(3, 2)
for epoch in range(2):
    loss = model(x).pow(2).mean()
    print(model.weight.grad)
    opt.zero_grad()
    loss.backward()
    opt.step()
