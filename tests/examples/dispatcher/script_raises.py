import torch
import numpy as np

@torch.jit.script
def f(x):
    return x.view(7)
try:
    f(torch.ones(2))
except Exception as error:
    print(type(error).__name__, str(error)[-80:])
try:
    torch.jit.script(lambda x: x.nothing())
except Exception as error:
    print(type(error).__name__)
