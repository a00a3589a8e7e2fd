import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(3, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
for episode in range(2):
    log_probs, rewards = [], []
    for t in range(4):
        dist = torch.distributions.Categorical(logits=policy(torch.randn(3)))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(float(action))
    loss = -(torch.stack(log_probs) * torch.tensor(rewards)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
