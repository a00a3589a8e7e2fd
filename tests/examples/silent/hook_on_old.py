# grad_none at 8: h
import torch
x = torch.randn(3, requires_grad=True)
h = x * 2
h.retain_grad()
grads = []
h.register_hook(grads.append)
h = torch.relu(h)
loss = h.sum()
loss.backward()
print(h.grad, grads)
