import torch
import numpy as np

from torch.utils.checkpoint import checkpoint, checkpoint_sequential
calls = []
def block(x):
    calls.append(torch.is_grad_enabled())
    return (x * 2).sin()
x = torch.ones(3, requires_grad=True)
for reentrant in (False, True):
    y = checkpoint(block, x, use_reentrant=reentrant)
    y.sum().backward()
print(calls, x.grad)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Dropout(0.5), torch.nn.Linear(2, 1))
out = checkpoint_sequential(net, 2, torch.ones(4, 2, requires_grad=True), use_reentrant=False)
out.sum().backward()
print(out, net[0].weight.grad)
