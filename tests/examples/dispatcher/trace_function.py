import torch
import numpy as np

def f(x, y):
    a = x.view(-1)
    b = a.view(a.size(0) // 2, 2) + y[0]
    return b.sum(0), b.reshape(b.shape[1], -1)
traced = torch.jit.trace(f, (torch.ones(4, 2), torch.ones(2, 2)))
print(traced.graph)
print(traced.code)
print(traced(torch.arange(12.0).view(6, 2), torch.ones(2, 2)))
x = torch.ones(4, 2, requires_grad=True)
for _ in range(3):
    traced(x, x)[0].sum().backward()
print(x.grad)
