import torch
from torch import nn

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(2):
    inner = (w**2).sum()
    (g,) = torch.autograd.grad(inner, w, create_graph=True)
    fast = w - 0.1 * g
    outer = (fast - 1).pow(2).sum()
    opt.zero_grad()
    outer.backward()
    opt.step()
