# Zeroing .grad in place keeps the tensor that the leaf holds.
import torch
p = torch.tensor([1.0, 2.0], requires_grad=True)
(p * 4).sum().backward()
held = p.grad
p.grad.zero_()
print(held, held is p.grad, held._version)
