import torch

x = torch.arange(6.0)
m = x.view(2, 3)
t = m.t()

flat = m.reshape(6)
copied = t.reshape(6)

x[1] = 16.0
print(flat)
print(copied)
