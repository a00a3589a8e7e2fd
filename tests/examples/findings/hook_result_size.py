# hook_result: y
import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
y.register_hook(lambda g: g.sum())  # cause
y.sum().backward()
