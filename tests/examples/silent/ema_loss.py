# graph_grows at 12: avg
import torch
from torch import nn
m = nn.Linear(2, 1)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
avg = None
for i in range(6):
    loss = m(torch.randn(4, 2)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    avg = loss if avg is None else 0.9 * avg + 0.1 * loss
    print(avg)
