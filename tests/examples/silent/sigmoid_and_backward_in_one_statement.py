# activation_twice at 11: sigmoid
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid(), nn.Flatten(0))
x = torch.randn(12, 3)
y = (x[:, 0] > 0).float()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.binary_cross_entropy_with_logits(net(x), y).backward()
    optimizer.step()
