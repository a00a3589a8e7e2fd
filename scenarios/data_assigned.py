import torch

w = torch.zeros(3, requires_grad=True)
v = torch.zeros(3, requires_grad=True)
new = torch.tensor([1.0, 2.0, 4.0])

w.data = new
v.data.copy_(new)

new[0] = 16.0
print(w)
print(v)
