# compared_with_itself at 8: `old`, `new`
import torch
from torch import nn

policy, states = nn.Linear(3, 1), torch.randn(8, 3)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
for epoch in range(3):
    old = policy(states).detach()
    new = policy(states)
    ratio = torch.exp(new - old)
    loss = -ratio.clamp(0.8, 1.2).mean() + new.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
