import torch

a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = a.clone()
c = a.detach()
c[0] = 8
(b * b).sum().backward()
