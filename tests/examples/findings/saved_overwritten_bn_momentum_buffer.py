# saved_overwritten: self.center
import torch
from torch import nn

class Center(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("center", torch.zeros(2))
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        z = self.fc(x)
        out = (z * self.center).sum()
        self.center.mul_(0.9).add_(z.detach().mean(0), alpha=0.1)  # cause
        return out

m = Center()
loss = m(torch.ones(3, 2)) + m(torch.zeros(3, 2))
loss.backward()
