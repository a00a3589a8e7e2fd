# The same warning from two lines, and from a loop.
import warnings
import torch
x = torch.ones(1, requires_grad=True)
y = x * 2
print(y.grad)
print(y.grad)
for n in range(2):
    warnings.warn(f"turn {n}")
