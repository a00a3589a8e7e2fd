# term_moves_nothing at 11: loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
x = torch.randn(5, 3)
for step in range(2):
    loss = net(x).pow(2).mean()
    smoothness = torch.from_numpy(net.weight.detach().numpy()).diff().abs().sum()
    loss += smoothness
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
