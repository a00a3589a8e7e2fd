# graph_grows at 13: loss
import torch
from torch import nn
net = nn.Linear(2, 1)
history = {"loss": [], "acc": []}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(4):
    out = net(torch.ones(3, 2))
    loss = out.pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history["loss"].append(loss)
print(history["loss"][-1])
