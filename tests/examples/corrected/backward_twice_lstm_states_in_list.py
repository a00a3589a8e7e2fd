import torch
from torch import nn
lstm = nn.LSTMCell(2, 3)
head = nn.Linear(3, 1)
h, c = torch.zeros(1, 3), torch.zeros(1, 3)
opt = torch.optim.SGD([*lstm.parameters(), *head.parameters()], lr=0.1)
for x, y in [(torch.ones(1, 2), 0.5)] * 3:
    h, c = lstm(x, (h.detach(), c.detach()))
    loss = (head(h) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
