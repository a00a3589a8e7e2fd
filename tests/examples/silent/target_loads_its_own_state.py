# load_matched_nothing at 11: ema_critic
import copy
import torch
from torch import nn
torch.manual_seed(0)
critic = nn.Linear(3, 1)
ema_critic = copy.deepcopy(critic).requires_grad_(False)


def sync():
    ema_critic.load_state_dict(ema_critic.state_dict())


optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)
x = torch.randn(6, 3)
for epoch in range(4):
    optimizer.zero_grad()
    (critic(x) - 0.9 * ema_critic(x) - 1).pow(2).mean().backward()
    optimizer.step()
    sync()
