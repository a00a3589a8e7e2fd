# A matrix product of two shapes that don't fit.
import torch
left, right = torch.ones(2, 3), torch.ones(2, 3)
print(left.shape)
left @ right
