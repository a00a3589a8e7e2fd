import torch

w = torch.tensor([1.0, 2.0])
v = torch.tensor([4.0, 8.0])
w.require_grad = True
v.requires_grad = True
print(w.requires_grad, v.requires_grad)
holds = w.requires_grad

loss = (w * v).sum()
loss.backward()
print(w.grad, v.grad)
