# samples_mixed at 11: probs, dim=0
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
x = torch.randn(6, 4)
y = F.one_hot(torch.tensor([0, 1, 2, 0, 1, 1]), 3).float()
for step in range(2):
    probs = F.softmax(net(x), 0)
    loss = ((probs - y) ** 2).sum()
    net.zero_grad()
    loss.backward()
