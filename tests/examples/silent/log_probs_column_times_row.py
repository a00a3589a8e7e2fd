# shape_mismatch at 12: log_prob, weight, 6 × 6
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    x, labels = torch.randn(6, 5), torch.randint(0, 4, (6, 1))
    weight = torch.rand(6)
    log_prob = net(x).log_softmax(1).gather(1, labels)
    loss = -(log_prob * weight).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
