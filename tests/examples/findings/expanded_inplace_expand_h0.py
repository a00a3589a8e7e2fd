# expanded_inplace: h0
import torch
from torch import nn
class Init(nn.Module):
    def __init__(self):
        super().__init__()
        self.h0 = nn.Parameter(torch.zeros(1, 1, 4))
    def forward(self, batch):
        h0 = (self.h0 * 1).expand(2, batch, 4)  # cause
        h0[0] += 1  # cause
        return h0
print(Init()(3))
