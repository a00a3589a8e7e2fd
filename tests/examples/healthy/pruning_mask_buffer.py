import torch
from torch import nn
torch.manual_seed(0)
class Masked(nn.Linear):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.register_buffer("mask", (torch.rand(b, a) > 0.3).float())
    def forward(self, x):
        return nn.functional.linear(x, self.weight * self.mask, self.bias)
net = Masked(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=1e-3)
for _ in range(2):
    opt.zero_grad()
    net(torch.randn(3, 4)).pow(2).mean().backward()
    opt.step()
