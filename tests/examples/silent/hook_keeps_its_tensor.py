# memory_held at 5: y
import torch
def f(x):
    y = x * 2
    y.register_hook(lambda g: print(y.shape))
    return None
f(torch.rand(64, 64, requires_grad=True))
print(1)
