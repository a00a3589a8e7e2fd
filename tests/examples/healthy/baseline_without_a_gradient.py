import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
for episode in range(3):
    states = torch.randn(5, 3)
    policy = Categorical(logits=actor(states))
    actions = policy.sample()
    returns = torch.rand(5)
    values = critic(states).squeeze(1)
    advantage = returns - values.detach()
    loss = -(policy.log_prob(actions) * advantage).mean() + 0.5 * (values - returns).pow(2).mean()
    loss = loss - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
