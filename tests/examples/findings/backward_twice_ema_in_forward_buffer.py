# backward_twice: mean
import torch
from torch import nn
torch.manual_seed(0)
class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("mean", torch.zeros(n))
    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)  # cause
        return x - self.mean
net = nn.Sequential(nn.Linear(2, 3), Norm(3), nn.Linear(3, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    loss = net(torch.randn(4, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
