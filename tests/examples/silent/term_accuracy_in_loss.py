# term_moves_nothing at 12: wrong, loss
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(10, 4), torch.arange(10) % 3
for step in range(3):
    scores = net(x)
    wrong = (scores.argmax(1) != y).float().mean()
    loss = F.cross_entropy(scores, y) + 0.5 * wrong
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
