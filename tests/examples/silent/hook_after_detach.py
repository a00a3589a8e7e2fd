# hook_misses at 7: y, hook
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
z = y.detach()
w = torch.ones(2, requires_grad=True)
y.register_hook(lambda g: print("grad", g))
(z * w).sum().backward()
