# .grad is None where no backward ran.
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
x.grad.zero_()
