# detach_ of what a later node saved as its input: backward raises, and no version moved.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
m = x * 2
y = m * m
m.detach_()
print(m._version)
y.sum().backward()
