# module_flag at 11: optimizer, weight_decay
import torch
from torch import nn


def train(net, optimizer, x, y):
    optimizer.zero_grad()
    loss = (net(x) - y).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.defaults["weight_decay"] = 0.1
    return loss.item()


torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
x, y = torch.randn(9, 3), torch.randn(9, 1)
print([train(net, optimizer, x, y) for _ in range(3)])
