# `_` and names that begin with it.
import torch
_, place = torch.tensor([4.0, 1.0]).min(0)
_hidden = 2
for _ in range(2):
    _hidden *= 2
print(place, _hidden, _)
