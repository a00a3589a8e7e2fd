import torch
from torch import nn
torch.manual_seed(0)
gru, out = nn.GRU(2, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*gru.parameters(), *out.parameters()], lr=0.1)
h = torch.zeros(1, 1, 4)
for chunk in torch.randn(3, 5, 1, 2):
    h = h.detach()
    y, h = gru(chunk, h)
    loss = out(y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(h.shape)
