import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

net = nn.Conv2d(3, 3 * 5, 1)
optimizer = torch.optim.Adam(net.parameters())
x, y = torch.randn(2, 3, 4, 4), torch.randint(0, 5, (2 * 3 * 16,))
for step in range(2):
    z = net(x).view(2, 3, 5, 16).permute(0, 1, 3, 2).reshape(-1, 5)
    w = net(x).permute(0, 2, 3, 1).reshape(2, -1, 5)
    loss = F.cross_entropy(z, y) + F.cross_entropy(w.reshape(-1, 5), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
