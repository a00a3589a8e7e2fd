# no_graph: no_grad
import torch
from torch import nn
class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(3, 2)
    @torch.no_grad()
    def encode(self, x):
        return self.enc(x)  # cause
net = Auto()
z = net.encode(torch.ones(1, 3))  # cause
(z ** 2).sum().backward()
