# hook_misses at 5: h
import torch
w = torch.ones(2, requires_grad=True)
h = w * 3
h.register_hook(lambda g: print("h", g))
h = h.detach().requires_grad_()
(h * 2).sum().backward()
