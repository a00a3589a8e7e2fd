# backward_never_called at 10: Rounded
import torch
from torch import nn


class Rounded(nn.Module):
    def forward(self, x):
        return torch.round(x)

    def backward(self, grad):
        return grad.clone()


torch.manual_seed(0)
net, out = nn.Sequential(nn.Linear(3, 4), Rounded()), nn.Linear(4, 1)
out(net(torch.randn(6, 3))).pow(2).mean().backward()
