import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
a, b = torch.randn(8, 3), torch.randn(8, 3)
first_is_better = 2 * (a.sum(1) > b.sum(1)).float() - 1
is_first_longer = torch.sign((a > 0).sum(1) - (b > 0).sum(1)).clamp(min=0).float()
is_known = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
for _ in range(2):
    optimizer.zero_grad()
    scores = net(a)[:, 0], net(b)[:, 0]
    loss = nn.functional.margin_ranking_loss(*scores, first_is_better, margin=0.1)
    ties = nn.functional.margin_ranking_loss(*scores, is_first_longer)
    known = nn.functional.soft_margin_loss(scores[0], torch.ones(8) * is_known)
    labels = nn.functional.multilabel_soft_margin_loss(torch.stack(scores, 1), torch.stack([is_known, is_known], 1))
    (loss + ties + known + labels).backward()
    optimizer.step()
