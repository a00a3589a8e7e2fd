# graph_grows at 12: history
import torch
from torch import nn
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
history = {"train": []}
for epoch in range(4):
    loss = net(torch.ones(3, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history["train"].append(loss)
print(sum(history["train"]) / 4)
