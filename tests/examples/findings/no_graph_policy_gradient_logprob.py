# no_graph: loss
import torch
from torch import nn
torch.manual_seed(0)
policy = nn.Linear(3, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
log_probs, rewards = [], []
state = torch.ones(3)
for t in range(3):
    dist = torch.distributions.Categorical(logits=policy(state))
    a = dist.sample()
    log_probs.append(dist.log_prob(a).item())  # cause
    rewards.append(1.0)
loss = -(torch.tensor(log_probs) * torch.tensor(rewards)).sum()
opt.zero_grad()
loss.backward()
