import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

policy = nn.Linear(4, 2)
optimizer = torch.optim.Adam(policy.parameters())
states, rewards = torch.randn(5, 4), torch.tensor([1.0, 0.0, 1.0, 1.0, 0.5])
for step in range(2):
    dist = torch.distributions.Categorical(logits=policy(states))
    actions = dist.sample()
    returns = rewards.flip(0).cumsum(0).flip(0)
    loss = -(dist.log_prob(actions) * (returns - returns.mean())).mean() - 0.01 * dist.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
