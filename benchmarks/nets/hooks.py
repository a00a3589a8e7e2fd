import torch
import torch.nn as nn

torch.manual_seed(0)
seen = []
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def keep(module, args, output):
    seen.append(output.detach())


handle = net[0].register_forward_hook(keep)
x = torch.randn(2, 2, requires_grad=True)
h = net[0](x)
h.retain_grad()
h.register_hook(lambda grad: grad.clamp(-0.1, 0.1))
y = net[2](net[1](h))
y.sum().backward()
handle.remove()
print(h.grad, x.grad)
