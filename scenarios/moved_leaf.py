import torch

w = torch.tensor([1.0, 2.0], requires_grad=True) * 4
v = (torch.tensor([1.0, 2.0]) * 4).requires_grad_()
print(w.is_leaf, v.is_leaf)

(w * v).sum().backward()
print(w.grad)
print(v.grad)
