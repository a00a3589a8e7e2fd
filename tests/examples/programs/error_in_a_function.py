# An error two calls deep.
import torch
def multiply(x):
    return x @ x
def outer(x):
    y = x + 1
    return multiply(y)
outer(torch.ones(2, 3))
