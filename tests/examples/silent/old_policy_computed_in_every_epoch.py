# compared_with_itself at 15: `old`, `new`
import torch
from torch import nn

policy = nn.Linear(3, 2)
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
states, actions, advantage = torch.randn(6, 3), torch.tensor([0, 1, 1, 0, 1, 0]), torch.randn(6)


def log_probs():
    return policy(states).log_softmax(1)[torch.arange(6), actions]


for epoch in range(4):
    old = log_probs().detach()
    new = log_probs()
    ratio = torch.exp(new - old)
    loss = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
