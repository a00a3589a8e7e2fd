# tanh needs its result; the write breaks what backward needs.
import torch
x = torch.zeros(2, requires_grad=True)
y = x.tanh()
y.mul_(2)
y.sum().backward()
