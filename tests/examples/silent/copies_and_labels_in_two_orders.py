# axes_confused at 12: cross_entropy_loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(6, 3), torch.randint(0, 2, (6,))
for _ in range(3):
    views = x.repeat_interleave(4, dim=0) + 0.1 * torch.randn(24, 3)
    scores, labels = net(views), y.repeat(4)
    loss = nn.functional.cross_entropy(scores, labels)
    opt.zero_grad()
    loss.backward()
    opt.step()
