"""Gradient descent on a parabola, on a saddle, with momentum, all by hand."""
import torch


def f(x):
    return (x - 3) ** 2 + 1


x = torch.tensor(0.0, requires_grad=True)
for step in range(8):
    y = f(x)
    y.backward()
    with torch.no_grad():
        x -= 0.2 * x.grad
    x.grad.zero_()
    print(f"step {step}: x={x.item():.4f} y={y.item():.4f}")
p = torch.tensor([1.0, 1e-3], requires_grad=True)
velocity = torch.zeros(2)
for step in range(6):
    loss = p[0] ** 2 - p[1] ** 2
    g, = torch.autograd.grad(loss, p)
    velocity = 0.9 * velocity - 0.1 * g
    p = (p + velocity).detach().requires_grad_()
print(p)
lrs = [0.01, 0.1, 1.1]
for lr in lrs:
    w = torch.tensor(5.0, requires_grad=True)
    history = []
    for _ in range(5):
        loss = w ** 2
        loss.backward()
        w.data = w.data - lr * w.grad
        w.grad = None
        history.append(round(w.item(), 3))
    print(lr, history)
