import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
d = x.detach()
e = x.data

d.mul_(2)
print(x._version, d._version, e._version)

e.mul_(2)
print(x._version, d._version, e._version)
print(x)
