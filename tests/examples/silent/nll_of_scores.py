# loss_below_zero at 10: scores
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
x, y = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
scores = net(x) + F.one_hot(y, 3) * 2
loss = F.nll_loss(scores, y)
loss.backward()
print(loss.item())
