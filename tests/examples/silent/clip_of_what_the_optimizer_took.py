# clip_without_gradient at 12: params
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(4, 1)
params = filter(lambda p: p.requires_grad, net.parameters())
optimizer = torch.optim.SGD(params, lr=0.01)
x, y = torch.randn(8, 4) * 30, torch.randn(8, 1)
for _ in range(3):
    optimizer.zero_grad()
    (net(x) - y).pow(2).mean().backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
