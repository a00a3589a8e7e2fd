import torch
import numpy as np

@torch.jit.script
def f(x, k: int):
    y = x
    for i in range(k):
        if bool(y.sum() > 10):
            y = y / 2
        else:
            y = y * 3 + i
    return y
x = torch.ones(2, requires_grad=True)
for _ in range(4):
    y = f(x, 4)
    y.sum().backward()
print(f.code, y, x.grad)
