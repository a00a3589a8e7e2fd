import torch
from torch import nn
torch.manual_seed(0)
policy = nn.Linear(2, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(2):
    log_probs, rewards = [], []
    for t in range(3):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(2)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action))
    returns = torch.tensor(rewards).flip(0).cumsum(0).flip(0)
    loss = -(torch.stack(log_probs) * (returns - returns.mean())).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
