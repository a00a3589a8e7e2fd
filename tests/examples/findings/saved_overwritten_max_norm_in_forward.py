# saved_overwritten: weight
import torch
from torch import nn
class MaxNorm(nn.Linear):
    def forward(self, x):
        with torch.no_grad():
            self.weight.div_(self.weight.norm(dim=1, keepdim=True))  # cause
        return super().forward(x)
torch.manual_seed(0)
f = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), MaxNorm(2, 3))
a, b = torch.randn(4, 2), torch.randn(4, 2)
dist = (f(a) - f(b)).pow(2).sum()
dist.backward()
