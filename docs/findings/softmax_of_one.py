# softmax_of_one at 13: `scores`
import torch
from torch import nn

torch.manual_seed(0)

score, head = nn.Linear(4, 1), nn.Linear(4, 1)
x, y = torch.randn(8, 5, 4), torch.randn(8, 1)
opt = torch.optim.SGD([*score.parameters(), *head.parameters()], lr=0.05)
for _ in range(4):
    opt.zero_grad()
    scores = score(x)
    weights = scores.softmax(dim=-1)
    loss = nn.functional.mse_loss(head((weights * x).sum(1)) + scores.mean(), y)
    loss.backward()
    opt.step()
