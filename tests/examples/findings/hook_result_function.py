# hook_result: to_number h
import torch
w = torch.ones(3, requires_grad=True)
other = w + 1
other.register_hook(lambda g: g)
h = w * 2
def to_number(grad):
    return grad.sum()  # cause
h.register_hook(to_number)
(h + other).sum().backward()
