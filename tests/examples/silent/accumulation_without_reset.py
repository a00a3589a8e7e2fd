# grad_accumulated at 11: model
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
every = 2
for i in range(4):
    x = torch.randn(4, 3)
    loss = (model(x) - 1).pow(2).mean() / every
    loss.backward()
    if (i + 1) % every == 0:
        opt.step()
