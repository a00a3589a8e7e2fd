# unused_input: w
import torch
w = torch.ones(2, requires_grad=True)
fast = w.clone().detach().requires_grad_()  # cause
for _ in range(2):
    loss = (fast * 3).pow(2).sum()
    (g,) = torch.autograd.grad(loss, fast, create_graph=True)
    fast = fast - 0.1 * g
meta = fast.pow(2).sum()
(gw,) = torch.autograd.grad(meta, w)  # cause
print(gw)
