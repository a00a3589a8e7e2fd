# graph_grows at 13: running
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    running = 0
    for i in range(3):
        loss = net(torch.randn(4, 2)).pow(2).mean()
        loss.backward()
        opt.step()
        running += loss
    print(epoch, running / 3)
