import torch
import numpy as np

def f(x):
    if x.sum() > 0:
        return x
    return -x
try:
    torch.fx.symbolic_trace(f)
except Exception as error:
    print(type(error).__name__, error)
g = torch.fx.symbolic_trace(lambda x, flag: x * 2 if flag else x, concrete_args={"flag": True})
print(g.code)
