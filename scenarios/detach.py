import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
h = w * 2
d = h.detach()
d.requires_grad_()

loss = (h * 4).sum() + (d * 16).sum()
loss.backward()
print(w.grad)
print(d.grad)
