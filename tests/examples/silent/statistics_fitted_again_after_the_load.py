# load_matched_nothing at 14: `self.mean`
import torch
from torch import nn


class Center(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))
        self.fitted = False

    def forward(self, x):
        if not self.fitted:
            self.mean.copy_(x.mean(0))
            self.fitted = True
        return x - self.mean


saved, loaded = Center(), Center()
saved(torch.randn(8, 3) + 5)
loaded.load_state_dict(saved.state_dict())
print(loaded(torch.randn(2, 3) + 5))
