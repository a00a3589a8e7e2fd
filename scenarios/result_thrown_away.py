import torch

w = torch.ones(3, requires_grad=True)
(w * 100).sum().backward()
w.grad.clamp(-1, 1)
print(w.grad)

w.grad.clamp_(-1, 1)
print(w.grad)
