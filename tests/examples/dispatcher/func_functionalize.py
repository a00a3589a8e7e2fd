import torch
import numpy as np

from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
def f(x):
    y = x.clone()
    v = y.view(-1)
    v.add_(1)
    y[0] = 5
    return y
print(functionalize(f)(torch.zeros(2, 2)))
print(make_fx(functionalize(f))(torch.zeros(2, 2)).code)
print(make_fx(functionalize(f, remove="mutations_and_views"))(torch.zeros(2, 2)).code)
