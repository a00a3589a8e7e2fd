import torch

w = torch.randn(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
x, y = torch.randn(8, 3), torch.randn(8)
for i in range(3):
    if w.grad is not None:
        w.grad.zero_()
        b.grad.zero_()
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    w.data -= 0.1 * w.grad
    b.data -= 0.1 * b.grad
