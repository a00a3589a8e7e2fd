import torch
import numpy as np

def helper(x):
    y = x * 2
    z = y.detach()
    print("traced", torch.jit.is_tracing())
    return y + z
def f(x):
    out = helper(x)
    for k in range(2):
        out = out + k
    out[0] = 7
    return out
x = torch.ones(2, requires_grad=True)
traced = torch.jit.trace(f, x, check_trace=False)
print(traced.graph)
traced(x).sum().backward()
print(x.grad, f(x))
