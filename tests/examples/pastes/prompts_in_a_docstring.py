import torch
def halve(t):
    """Half of it.

    >>> halve(torch.ones(1))
    tensor([0.5000])
    """
    return t / 2
print(halve(torch.ones(2)))
