# grad_accumulated at 19: critic.weight, of_makers
import torch
from torch import nn

torch.manual_seed(0)
maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
of_makers = torch.optim.SGD(maker.parameters(), lr=0.1)
of_critics = torch.optim.SGD(critic.parameters(), lr=0.1)
real = torch.randn(4, 3)
for k in range(3):
    of_critics.zero_grad()
    of_makers.zero_grad()
    made = maker(torch.randn(4, 2))
    liked = -critic(made).mean()
    liked.backward()
    of_makers.step()
    gap = critic(made.detach()).mean() - critic(real).mean()
    loss = gap + 0.1 * critic.weight.square().sum()
    loss.backward()
    of_critics.step()
