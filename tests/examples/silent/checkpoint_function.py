# grad_none at 9: w.grad, checkpoint
import torch
from torch.utils.checkpoint import checkpoint
w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([1.0, 1.0], requires_grad=True)
x = torch.tensor([4.0, 8.0])
def block(x):
    return x * w
h = checkpoint(block, x, use_reentrant=True)
(h * v).sum().backward()
print(w.grad, v.grad)
