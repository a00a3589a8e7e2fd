import torch

x = torch.tensor([1.0, 2.0])
d = x.data
e = x.detach()
d += 1
e += 1
