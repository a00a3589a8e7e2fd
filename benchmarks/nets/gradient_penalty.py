import torch
import torch.nn as nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
x = torch.randn(2, 2, requires_grad=True)
score = critic(x).sum()
(grad,) = torch.autograd.grad(score, x, create_graph=True)
penalty = (grad.norm(dim=1) - 1).pow(2).mean()
penalty.backward()
print(critic[0].weight.grad)
