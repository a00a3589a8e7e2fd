# print itself as a hook: what passes by is shown and left alone.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
middle = x * 4
middle.register_hook(print)
(middle * middle).sum().backward()
print(x.grad)
