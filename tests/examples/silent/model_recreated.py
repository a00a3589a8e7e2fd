# parameter_detached at 7: net
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net = nn.Linear(2, 1)
for _ in range(3):
    optimizer.zero_grad()
    loss = net(torch.ones(3, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
