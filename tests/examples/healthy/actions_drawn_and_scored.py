import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

torch.manual_seed(0)
actor, critic = nn.Linear(3, 1), nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
prior = Normal(0.0, 1.0)
for step in range(4):
    state = torch.randn(16, 3)
    policy = Normal(actor(state), 0.5)
    action = policy.sample()
    reward = -(action - state[:, :1]).abs()
    value = critic(torch.cat((state, action), dim=1))
    advantage = (reward - value).detach()
    loss = -(policy.log_prob(action) * advantage).mean() + (value - reward).pow(2).mean()
    loss = loss + 0.01 * kl_divergence(policy, prior).mean()
    noise = critic(torch.cat((state, prior.sample((16, 1))), dim=1)).mean() * 0.0
    optimizer.zero_grad()
    (loss + noise).backward()
    optimizer.step()
    with torch.no_grad():
        shown = critic(torch.cat((state, Normal(actor(state), 0.5).sample()), dim=1))
    print(loss.item(), shown.mean().item())
