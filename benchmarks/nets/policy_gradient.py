import torch
import torch.nn as nn

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2))
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
states = torch.randn(3, 2)
log_probs, rewards = [], []
for state in states:
    dist = torch.distributions.Categorical(logits=policy(state))
    action = dist.sample()
    log_probs.append(dist.log_prob(action))
    rewards.append(1.0 if action == 1 else -1.0)
returns = torch.tensor(rewards)
loss = -(torch.stack(log_probs) * returns).sum()
opt.zero_grad()
loss.backward()
opt.step()
