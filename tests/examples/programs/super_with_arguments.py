# The two-argument form of super, as older code writes it.
import torch
from torch import nn
class Scale(nn.Module):
    def __init__(self, by):
        super(Scale, self).__init__()
        self.by = nn.Parameter(torch.tensor(by))
    def forward(self, x):
        return x * self.by
print(Scale(4.0)(torch.tensor([1.0, 0.5])))
