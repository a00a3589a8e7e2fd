# no_graph: h no_grad
import torch
from torch.utils.checkpoint import checkpoint
w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([4.0, 8.0])
def block(x):
    with torch.no_grad():
        h = x * w  # cause
    return h + 1
out = checkpoint(block, x, use_reentrant=False)
out.sum().backward()
