# hook_misses at 9: save_grad
import torch
grads = {}
def save_grad(g):
    grads["h"] = g
x = torch.ones(2, requires_grad=True)
h = x * 2
h.register_hook(save_grad)
h.mul_(3)
h.sum().backward()
print(grads)
