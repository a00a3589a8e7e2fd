# grad_none: a
import torch
x, y = torch.linspace(0, 1, 4), torch.linspace(1, 3, 4)
a = torch.tensor(0.0, requires_grad=True)
b = torch.tensor(0.0, requires_grad=True)
for i in range(3):
    loss = ((a * x + b - y) ** 2).mean()
    loss.backward()
    a = a - 0.1 * a.grad  # cause
    b = b - 0.1 * b.grad  # cause
