import torch
a = torch.ones(3)
c = a.detach()
a
c
