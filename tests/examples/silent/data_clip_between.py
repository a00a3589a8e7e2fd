# wrong_gradient at 9: p
import torch
from torch import nn
torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
x = torch.randn(4, 2)
loss = critic(x).mean()
for p in critic.parameters():
    p.data.clamp_(-0.01, 0.01)
loss.backward()
print(critic[0].weight.grad)
