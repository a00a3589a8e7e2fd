# One value, many targets: the names hold one tensor.
import torch
left = right = torch.zeros(2)
left[1] = 4
both = (first, second) = (1, 2)
print(left is right, right, both, first, second)
