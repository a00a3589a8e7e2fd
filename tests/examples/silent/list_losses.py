# graph_grows at 12: losses, loss
import torch
from torch import nn
m = nn.Linear(2, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
losses = []
for i in range(5):
    loss = m(torch.randn(4, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss)
print(sum(losses) / len(losses))
