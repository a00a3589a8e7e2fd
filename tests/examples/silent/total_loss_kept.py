# graph_grows at 12: total_loss
import torch
from torch import nn
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
total_loss = 0
for i in range(4):
    loss = net(torch.ones(1, 2)).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total_loss += loss
print(total_loss / 4)
