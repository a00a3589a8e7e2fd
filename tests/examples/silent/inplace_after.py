# hook_misses at 8: y, show
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
def show(g):
    print("grad of y", g)
y.register_hook(show)
y += 1
y *= 3
y.sum().backward()
