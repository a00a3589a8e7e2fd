# Multithreading of the engine switched off.
import torch
x = torch.ones(2, requires_grad=True)
with torch.autograd.set_multithreading_enabled(False):
    (x * 4).sum().backward()
print(x.grad)
