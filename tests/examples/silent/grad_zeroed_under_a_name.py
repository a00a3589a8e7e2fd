# shared_memory at 5: first, w.grad
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * 3).sum().backward(); first = w.grad
w.grad.zero_()
print(first)
