# compared_with_itself at 15: `q1`
import torch
from torch import nn

torch.manual_seed(0)

critics = nn.ModuleList(nn.Linear(3, 1) for _ in range(2))
opt = torch.optim.SGD(critics.parameters(), lr=0.1)
states, rewards = torch.randn(6, 3), torch.randn(6, 1)
for _ in range(3):
    q1, q2 = (critic(states) for critic in critics)
    loss = (q1 - rewards).pow(2).mean() + (q2 - rewards).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    smaller = torch.min(q1, q1)
    opt.step()
    print(smaller.mean().item())
