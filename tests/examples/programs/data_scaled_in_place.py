# A leaf changed through .data: no error, and no version moves.
import torch
weight = torch.tensor([2.0, 4.0], requires_grad=True)
weight.data *= 8
weight.data -= torch.tensor([1.0, 1.0])
print(weight, weight._version, weight.is_leaf)
