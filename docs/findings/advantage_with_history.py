# advantage_with_history at 14: `advantage`, critic
import torch
from torch import nn

torch.manual_seed(0)
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-2)
for episode in range(3):
    states, rewards = torch.randn(8, 4), torch.randn(8)
    policy = torch.distributions.Categorical(logits=actor(states))
    actions = policy.sample()
    values = critic(states).squeeze(1)
    advantage = rewards - values
    policy_loss = -(policy.log_prob(actions) * advantage).mean()
    value_loss = nn.functional.mse_loss(values, rewards)
    optimizer.zero_grad()
    (policy_loss + value_loss).backward()
    optimizer.step()
