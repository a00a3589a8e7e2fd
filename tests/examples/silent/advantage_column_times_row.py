# shape_mismatch at 14: returns, value, 8 × 8
import torch
from torch import nn

torch.manual_seed(0)
policy, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
for step in range(3):
    states, returns = torch.randn(8, 4), torch.randn(8)
    dist = torch.distributions.Categorical(logits=policy(states))
    log_prob = dist.log_prob(dist.sample())
    value = critic(states)
    value_loss = nn.functional.mse_loss(value.squeeze(1), returns)
    advantage = returns - value.detach()
    policy_loss = -(advantage * log_prob).mean()
    loss = policy_loss + value_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
