# Checkpointing runs the function again in backward, in both of its manners.
import torch
from torch.utils.checkpoint import checkpoint
calls = []
def block(v):
    calls.append("run")
    return (v * v * v).relu()
x = torch.tensor([1.0, 2.0], requires_grad=True)
checkpoint(block, x, use_reentrant=False).sum().backward()
print(calls, x.grad)
checkpoint(block, x, use_reentrant=True).sum().backward()
print(len(calls), x.grad)
