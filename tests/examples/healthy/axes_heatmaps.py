import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

net = nn.Conv2d(3, 5, 3, padding=1)
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(2, 3, 6, 6), torch.randint(0, 36, (2, 5))
for step in range(2):
    h = net(x)
    loss = F.cross_entropy(h.view(2 * 5, 36), y.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
