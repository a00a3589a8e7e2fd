import torch
import numpy as np

from torch.func import functional_call, grad, vmap, stack_module_state
net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
params = {k: v.detach() for k, v in net.named_parameters()}
def loss(p, x, y):
    return ((functional_call(net, p, (x.unsqueeze(0),)) - y) ** 2).mean()
x, y = torch.arange(8.0).view(4, 2), torch.ones(4)
per_sample = vmap(grad(loss), in_dims=(None, 0, 0))(params, x, y)
print({k: v.shape for k, v in per_sample.items()}, per_sample["2.bias"])
nets = [torch.nn.Linear(2, 1) for _ in range(3)]
stacked, buffers = stack_module_state(nets)
out = vmap(lambda p, b, x: functional_call(nets[0], (p, b), (x,)), in_dims=(0, 0, None))(stacked, buffers, x)
print(out.shape, out.sum())
new = {k: v + 1 for k, v in net.named_parameters()}
functional_call(net, new, (x,)).sum().backward()
print(net[0].weight.grad)
