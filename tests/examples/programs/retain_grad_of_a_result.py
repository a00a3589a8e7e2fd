# retain_grad lets a non-leaf keep its gradient.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 4
y.retain_grad()
(y * y).sum().backward()
print(y.grad, x.grad, y.retains_grad, y.is_leaf)
