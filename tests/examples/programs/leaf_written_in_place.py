# A leaf that requires grad can't be written while grad mode is on.
import torch
w = torch.ones(2, requires_grad=True)
print("before")
w += 1
