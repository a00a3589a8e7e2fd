import atexit
import warnings

import torch

atexit.register(print, "at exit")
warnings.warn("mind the step")
x = torch.ones(2, requires_grad=True)
y = x * 2
print(y.grad)
