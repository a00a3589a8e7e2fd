# backward_twice: guess closure
import torch
from torch import nn, optim

net = nn.Linear(3, 1)
opt = optim.LBFGS(net.parameters())
x, y = torch.rand(8, 3), torch.rand(8, 1)
guess = net(x)  # cause


def closure():
    opt.zero_grad()
    loss = (guess - y).pow(2).mean()
    loss.backward()
    return loss


opt.step(closure)
