# An assertion with a message made of a tensor.
import torch
x = torch.tensor([1.0, 2.0])
assert x.sum() == 4, f"the sum is {x.sum()}"
