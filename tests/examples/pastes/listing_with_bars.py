import torch
u = torch.ones(3)
v = u.view(3, 1)
v.fill_(2)
