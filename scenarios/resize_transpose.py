import torch

x = torch.arange(6.0).view(2, 3).requires_grad_()
c = x.clone()
d = x.detach()

c.t_()
d.t_()
d.resize_(2, 2)
print(c.shape, d.shape)
holds = c.shape == x.shape and d.shape == x.shape

c.resize_(2, 2)
