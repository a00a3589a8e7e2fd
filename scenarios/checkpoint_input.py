import torch
from torch.utils.checkpoint import checkpoint

w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([4.0, 8.0])


def block(x):
    return (x * w).sum()


new = checkpoint(block, x, use_reentrant=False)
new.backward()
print(w.grad)

old = checkpoint(block, x, use_reentrant=True)
old.backward()
