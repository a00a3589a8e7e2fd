# inference_tensor: mean
import torch
from torch import nn
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))
    def calibrate(self, x):
        with torch.inference_mode():
            self.mean = x.mean(0)  # cause
    def forward(self, x):
        self.mean.add_(0.1)  # cause
        return x - self.mean
norm = Norm()
norm.calibrate(torch.ones(3, 2))
print(norm(torch.ones(1, 2)))
