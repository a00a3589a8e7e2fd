# The hook of a tensor raises inside backward.
import torch
x = torch.ones(1, requires_grad=True)
y = x * 2
def hook(grad):
    raise ValueError(f"no good: {grad.item()}")
y.register_hook(hook)
(y * 2).backward()
