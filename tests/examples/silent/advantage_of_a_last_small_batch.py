# nonfinite at 10: std
import torch
from torch import nn

torch.manual_seed(0)
policy = nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
states, actions, rewards = torch.randn(5, 4), torch.randint(0, 2, (5,)), torch.randn(5)
for rows in torch.arange(5).split(2):
    advantage = (rewards[rows] - rewards[rows].mean()) / (rewards[rows].std() + 1e-8)
    log_probs = policy(states[rows]).log_softmax(dim=-1)
    loss = -(advantage * log_probs[torch.arange(len(rows)), actions[rows]]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
