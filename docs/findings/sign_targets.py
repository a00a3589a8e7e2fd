# sign_targets at 12: `first_is_better`, margin_ranking_loss
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
a, b = torch.randn(8, 3), torch.randn(8, 3)
first_is_better = (a.sum(1) > b.sum(1)).float()
for _ in range(2):
    optimizer.zero_grad()
    loss = nn.functional.margin_ranking_loss(net(a)[:, 0], net(b)[:, 0], first_is_better, margin=0.1)
    loss.backward()
    optimizer.step()
