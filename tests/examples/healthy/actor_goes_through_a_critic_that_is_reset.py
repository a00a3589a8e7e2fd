import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
of_actor = torch.optim.Adam(actor.parameters(), lr=0.01)
of_critic = torch.optim.Adam(critic.parameters(), lr=0.01)
for k in range(3):
    state, action, worth = torch.randn(6, 3), torch.randn(6, 2), torch.randn(6, 1)
    loss = (critic(torch.cat([state, action], 1)) - worth).square().mean()
    of_critic.zero_grad()
    loss.backward()
    of_critic.step()
    gain = -critic(torch.cat([state, actor(state)], 1)).mean()
    of_actor.zero_grad()
    gain.backward()
    of_actor.step()
