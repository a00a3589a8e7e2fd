# hook_misses at 6: w
import torch
w = torch.ones(3, requires_grad=True)
loss = (w ** 2).sum()
loss.backward()
w.register_hook(lambda g: g * 2)
print(w.grad)
