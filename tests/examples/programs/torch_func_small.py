# grad and vmap of torch.func on one-liners.
import torch
from torch.func import grad, vmap
print(grad(lambda x: (x * x).sum())(torch.tensor([1.0, 4.0])))
print(vmap(lambda row: row * 2 + 1)(torch.ones(2, 2)))
