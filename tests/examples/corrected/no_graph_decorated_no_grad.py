import torch
from torch import nn
class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 2)
    def encode(self, x):
        return self.enc(x)
net = Auto()
z = net.encode(torch.ones(1, 3))
(z ** 2).sum().backward()
