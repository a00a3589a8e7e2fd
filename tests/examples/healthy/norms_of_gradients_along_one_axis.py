import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Flatten(), nn.Linear(48, 1))
field = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
patches = nn.Sequential(nn.Conv2d(2, 4, 3), nn.Tanh(), nn.Conv2d(4, 1, 3))
points, texts, images = torch.randn(2, 5, 3), torch.randn(3, 6, 4), torch.randn(2, 2, 6, 6)


def gradient(net, x):
    x = x.requires_grad_()
    scores = net(x)
    return torch.autograd.grad(scores, x, torch.ones_like(scores), create_graph=True)[0]


flat = (gradient(critic, texts).flatten(1).norm(2, dim=1) - 1).pow(2).mean()
twice = (gradient(critic, texts).norm(2, dim=1).norm(2, dim=1) - 1).pow(2).mean()
eikonal = (gradient(field, points).norm(dim=-1) - 1).pow(2).mean()
of_patches = (gradient(patches, images).norm(2, dim=1) - 1).pow(2).mean()
small = gradient(critic, texts).norm(2, dim=2).pow(2).mean()
(flat + twice + eikonal + of_patches + small).backward()
