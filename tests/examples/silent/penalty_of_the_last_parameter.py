# result_unused at 12: `penalty`
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randn(16, 1)
for _ in range(3):
    loss = nn.functional.mse_loss(net(x), y)
    for parameter in net.parameters():
        penalty = 0.01 * parameter.pow(2).sum()
    loss = loss + penalty
    opt.zero_grad()
    loss.backward()
    opt.step()
