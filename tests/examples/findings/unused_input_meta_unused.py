# unused_input: fast
import torch
w = torch.ones(2, requires_grad=True)
loss = (w ** 2).sum()
g, = torch.autograd.grad(loss, w)
fast = w - 0.1 * g
g2, = torch.autograd.grad(loss.exp(), fast)  # cause
