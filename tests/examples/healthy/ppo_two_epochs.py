import torch
from torch import nn
torch.manual_seed(0)
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
state, action, ret = torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1]), torch.randn(5)
with torch.no_grad():
    old = torch.log_softmax(actor(state), 1).gather(1, action[:, None]).squeeze(1)
for epoch in range(2):
    new = torch.log_softmax(actor(state), 1).gather(1, action[:, None]).squeeze(1)
    value = critic(state).squeeze(1)
    adv = (ret - value).detach()
    ratio = (new - old).exp()
    loss = -torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv).mean() + (ret - value).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
