# Forward pre-hook, backward pre-hook and backward hook of one layer.
import torch
from torch import nn
layer = nn.Linear(1, 1, bias=False)
nn.init.constant_(layer.weight, 2.0)
layer.register_forward_pre_hook(lambda m, args: print("forward", args))
layer.register_full_backward_pre_hook(lambda m, out: print("backward begins", out))
layer.register_full_backward_hook(lambda m, into, out: print("backward ended", into, out))
x = torch.ones(1, 1, requires_grad=True)
layer(x).backward()
print(x.grad, layer.weight.grad)
