import torch
from torch import nn
torch.manual_seed(0)
body, critic = nn.Linear(3, 4), nn.Linear(4, 1)
x, y = torch.randn(8, 3), torch.randn(8, 1)
critic.requires_grad_(False)
for make in (lambda p: torch.optim.Adam(p, lr=0.01), lambda p: torch.optim.SGD(p, lr=0.01)):
    optimizer = make(body.parameters())
    for step in range(3):
        loss = nn.functional.mse_loss(critic(torch.tanh(body(x))), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
