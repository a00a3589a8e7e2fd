import torch
import numpy as np

from torch.fx.experimental.proxy_tensor import make_fx
def f(x, y):
    a = x * 2 + y
    b = a.view(-1).sum()
    return a.sin() * b
print(make_fx(f)(torch.ones(2, 2), torch.ones(2, 2)).code)
print(make_fx(f, tracing_mode="fake")(torch.ones(2, 2), torch.ones(2, 2)).graph)
print(make_fx(f, tracing_mode="symbolic")(torch.ones(2, 2), torch.ones(2, 2)).code)
print(torch.ones(2) + 1)
