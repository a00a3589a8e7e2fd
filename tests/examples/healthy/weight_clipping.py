import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Linear(3, 1)
optimizer = torch.optim.RMSprop(critic.parameters(), lr=0.01)
for _ in range(3):
    loss = critic(torch.randn(4, 3)).mean() - critic(torch.randn(4, 3) + 1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    for p in critic.parameters():
        p.data.clamp_(-0.5, 0.5)
