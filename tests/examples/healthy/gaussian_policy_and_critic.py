import torch
from torch import nn
from torch.distributions import Normal
torch.manual_seed(0)
actor, critic = nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for step in range(4):
    state = torch.randn(8, 3)
    dist = Normal(actor(state), 0.5)
    action = dist.sample()
    reward = -(action - state.sum(1, keepdim=True)).pow(2)
    value = critic(state)
    advantage = (reward - value).detach()
    loss = -(dist.log_prob(action) * advantage).mean() + nn.functional.mse_loss(value, reward)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
