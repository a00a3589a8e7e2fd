"""Proximal policy optimisation on a toy task: GAE, ratios, clipping, entropy."""
import torch
from torch import nn
from torch.distributions import Normal

torch.manual_seed(0)
actor, critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1)), nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
log_std = nn.Parameter(torch.zeros(1))
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters(), log_std], lr=0.01)


def rollout(n=10):
    states, actions, rewards, logps, values = [], [], [], [], []
    s = torch.zeros(2)
    with torch.no_grad():
        for _ in range(n):
            dist = Normal(actor(s), log_std.exp())
            a = dist.sample()
            states.append(s)
            actions.append(a)
            logps.append(dist.log_prob(a).sum())
            values.append(critic(s).squeeze())
            rewards.append(-(s[0] - 1) ** 2 - 0.01 * a[0] ** 2)
            s = s + torch.stack([a[0] * 0.1, s[0] * 0.1])
    return torch.stack(states), torch.stack(actions), torch.stack(rewards), torch.stack(logps), torch.stack(values)


def gae(rewards, values, gamma=0.9, lam=0.95):
    advantages, last = torch.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        nxt = values[t + 1] if t + 1 < len(values) else 0.0
        delta = rewards[t] + gamma * nxt - values[t]
        advantages[t] = last = delta + gamma * lam * last
    return advantages, advantages + values


for iteration in range(2):
    states, actions, rewards, old_logps, values = rollout()
    advantages, returns = gae(rewards, values)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for epoch in range(2):
        dist = Normal(actor(states), log_std.exp())
        ratio = (dist.log_prob(actions).sum(-1) - old_logps).exp()
        clipped = torch.clamp(ratio, 0.8, 1.2) * advantages
        policy_loss = -torch.min(ratio * advantages, clipped).mean()
        value_loss = nn.functional.mse_loss(critic(states).squeeze(-1), returns)
        loss = policy_loss + 0.5 * value_loss - 0.01 * dist.entropy().mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
        opt.step()
    print(iteration, f"{policy_loss.item():.4f} {value_loss.item():.4f} {ratio.mean().item():.4f}", rewards.sum() < 0)
