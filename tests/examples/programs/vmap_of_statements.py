# A function of several statements under vmap, with an axis chosen.
import torch
from torch.func import vmap
def affine(row, bias):
    doubled = row * 2
    shifted = doubled + bias
    return shifted
print(vmap(affine, in_dims=(1, None))(torch.arange(4.0).view(2, 2), torch.tensor(1.0)))
