# eval_missing at 12: net, net.eval
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x, y = torch.randn(16, 4), torch.tensor([0, 1] * 8)
for epoch in range(3):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()

net.eval
with torch.no_grad():
    print((net(x).argmax(1) == y).float().mean().item())
