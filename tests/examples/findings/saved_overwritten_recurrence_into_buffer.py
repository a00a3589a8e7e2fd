# saved_overwritten: f
import torch
x = torch.ones(1)
x.requires_grad_()
f = torch.zeros(5)
f[0] = 1
for i in range(1, 5):
    f[i] = f[i - 1] * x  # cause
    f[i] = 1 / (1.0 + torch.exp(-f[i]))
loss = torch.sum(f)
grad = torch.autograd.grad(loss, [x])[0]
