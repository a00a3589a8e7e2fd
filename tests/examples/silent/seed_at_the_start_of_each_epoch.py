# same_numbers at 11: draw =
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
data = torch.arange(12.0).reshape(6, 2)


def epoch():
    torch.manual_seed(1234)
    for batch in data.split(2):
        draw = torch.rand(2, 2)
        loss = (net(batch + draw) - batch).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


for _ in range(3):
    epoch()
