# same_module at 7: target, online
import torch
from torch import nn

torch.manual_seed(0)
online = nn.Linear(3, 2)
target = online
optimizer = torch.optim.Adam(online.parameters(), lr=0.01)
states, nexts = torch.randn(4, 3), torch.randn(4, 3)
for step in range(3):
    with torch.no_grad():
        goal = 0.9 * target(nexts).max(1).values
    loss = (online(states).max(1).values - goal).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
