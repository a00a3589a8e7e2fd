# A function that calls itself, deletes a local and returns.
import torch
def descend(x, depth):
    doubled = x * 2
    if depth:
        doubled = descend(doubled, depth - 1)
    out = doubled + 1
    del doubled
    return out
x = torch.ones(1, requires_grad=True)
y = descend(x, 2)
y.backward()
print(y, x.grad)
