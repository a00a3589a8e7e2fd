# grad_none at 10: encoder.weight.grad, head(features.detach()), features.data.pow(2)
import torch
from torch import nn

encoder, head = nn.Linear(3, 2), nn.Linear(2, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(5, 3), torch.randn(5, 1)
for step in range(3):
    features = encoder(x)
    guess = head(features.detach())
    size = features.data.pow(2).mean()
    loss = (guess - y).pow(2).mean() + 0.1 * size
    opt.zero_grad()
    loss.backward()
    opt.step()
