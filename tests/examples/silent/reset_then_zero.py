# grad_none at 8: model.weight, model.bias
import torch
from torch import nn
model = nn.Linear(2, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(3, 2)).sum()
loss.backward()
opt.zero_grad()
opt.step()
for p in model.parameters():
    print(p.grad)
