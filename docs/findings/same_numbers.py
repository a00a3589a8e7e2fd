# same_numbers at 9: noise =
import torch
from torch import nn

net = nn.Linear(3, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(4):
    x = torch.full((4, 3), float(step))
    torch.manual_seed(0)
    noise = torch.randn_like(x)
    loss = (net(x + noise) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
