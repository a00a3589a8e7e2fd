# saved_overwritten: running
import torch
from torch import nn
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("running", torch.zeros(2))
    def forward(self, x):
        out = x * (self.running + 1) * self.running
        self.running.mul_(0.9).add_(x.detach().mean(0))  # cause
        return out
norm = Norm()
x = torch.ones(3, 2, requires_grad=True)
norm(x).sum().backward()
