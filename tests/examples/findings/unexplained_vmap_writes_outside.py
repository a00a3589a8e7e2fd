# unexplained_error: buffer not
import torch
buffer = torch.zeros(2)
def add(x):
    buffer.add_(x)  # cause
    return x
torch.vmap(add)(torch.randn(3, 2))
