import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    total = [torch.zeros_like(p) for p in net.parameters()]
    for x in torch.randn(3, 3):
        net.zero_grad()
        net(x).pow(2).sum().backward()
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in net.parameters()))
        for t, p in zip(total, net.parameters()):
            t += p.grad * (1 / (1 + norm))
    for p, t in zip(net.parameters(), total):
        p.grad = t / 3 + 0.01 * torch.randn_like(t)
    opt.step()
