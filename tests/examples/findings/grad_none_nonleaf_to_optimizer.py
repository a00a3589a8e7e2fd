# grad_none: w
import torch
w = torch.randn(3, requires_grad=True) * 0.1  # cause
opt = torch.optim.SGD([w], lr=0.1)  # cause
loss = w.sum()
loss.backward()
opt.step()
