# Gradients flow back to the cells that were read, and add up where one was read twice.
import torch
x = torch.arange(4.0, requires_grad=True)
y = x[[1, 1, 3]] * torch.tensor([1.0, 2.0, 4.0])
z = torch.where(x > 1, x * 8, x)
(y.sum() + z.gather(0, torch.tensor([2]))).backward()
print(x.grad)
