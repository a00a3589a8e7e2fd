# Ellipsis, None, steps and negative indices; which of them are views.
import torch
x = torch.arange(24).view(2, 3, 4)
some = x[:, None, 1:3, ::2]
picked = x[:, [0, 2]]
print(x[..., 0].shape, some.shape, some.stride(), x[-1, -1, -1], picked._base is None, some._base is x._base)
