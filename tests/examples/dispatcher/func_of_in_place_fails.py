import torch
import numpy as np

from torch.func import grad, vmap
captured = torch.zeros(3)
def f(x):
    captured.add_(x)
    return x.sum()
for t in (grad(f), vmap(f)):
    try:
        print(t(torch.ones(3)))
    except Exception as error:
        print(type(error).__name__, str(error)[:100])
print(captured, captured._version)
