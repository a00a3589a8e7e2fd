# no_grad as a decorator of a function.
import torch
@torch.no_grad()
def predict(x):
    """Twice x."""
    return x * 2
y = predict(torch.ones(2, requires_grad=True))
print(y.requires_grad, predict.__name__, predict.__doc__)
