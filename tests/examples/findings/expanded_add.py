# expanded_inplace: mask
import torch
mask = torch.ones(1, 4).expand(3, -1)  # cause
mask.mul_(torch.rand(3, 4))  # cause
