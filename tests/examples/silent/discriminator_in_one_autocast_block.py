# stale_copy at 8: `critic.weight`
import torch
from torch import nn

critic = nn.Linear(3, 1)
optimizer = torch.optim.RMSprop(critic.parameters(), lr=0.01)
context = torch.autocast("cpu", dtype=torch.bfloat16)
with context:
    for step in range(4):
        loss = critic(torch.full((2, 3), float(step))).float().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
