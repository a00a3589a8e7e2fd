# backward_twice: loss
import torch
from torch import nn
net = nn.Linear(2, 1)
opt = torch.optim.LBFGS(net.parameters(), max_iter=3)
x, y = torch.ones(4, 2), torch.zeros(4, 1)
loss = ((net(x) - y) ** 2).mean()  # cause
def closure():
    opt.zero_grad()
    loss.backward()  # cause
    return loss
opt.step(closure)
