import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

net, aux = nn.Linear(5, 3), nn.Linear(5, 1)
optimizer = torch.optim.Adam([*net.parameters(), *aux.parameters()])
x, y, t = torch.randn(6, 5), torch.randint(0, 3, (6,)), torch.randn(6)
w = torch.rand(6)
class_weights = torch.tensor([1.0, 2.0, 0.5])
task = torch.tensor([0.3, 0.7])
for step in range(2):
    ce = F.cross_entropy(net(x), y, weight=class_weights)
    per = F.cross_entropy(net(x), y, reduction="none")
    mse = F.mse_loss(aux(x).squeeze(1), t)
    loss = (per * w).sum() / w.sum() + (torch.stack([ce, mse]) * task).sum() + ce * w.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
