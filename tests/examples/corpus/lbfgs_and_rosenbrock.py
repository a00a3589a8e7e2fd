"""Optimisers on the Rosenbrock function, LBFGS with a closure, Newton and a line search by hand."""

import torch
from torch import optim
from torch.autograd.functional import hessian


def rosenbrock(p):
    x, y = p
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


START = (-1.5, 1.0)
settings = {
    "SGD": (optim.SGD, dict(lr=1e-4, momentum=0.9)),
    "Adam": (optim.Adam, dict(lr=0.1)),
    "RMSprop": (optim.RMSprop, dict(lr=0.02)),
    "Adagrad": (optim.Adagrad, dict(lr=0.5)),
    "NAdam": (optim.NAdam, dict(lr=0.05)),
}
for name, (cls, kwargs) in settings.items():
    p = torch.tensor(START, requires_grad=True)
    optimizer = cls([p], **kwargs)
    path = [p.detach().clone()]
    for _ in range(6):
        optimizer.zero_grad()
        loss = rosenbrock(p)
        loss.backward()
        optimizer.step()
        path.append(p.detach().clone())
    print(f"{name:8s} {loss.item():9.4f} {path[-1]}")

p = torch.tensor(START, requires_grad=True)
optimizer = optim.LBFGS([p], lr=1, max_iter=5, history_size=5, line_search_fn="strong_wolfe")
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = rosenbrock(p)
    loss.backward()
    return loss


for i in range(3):
    loss = optimizer.step(closure)
    print(f"LBFGS {i}: {loss.item():.5f}, {calls} evaluations")

point = torch.tensor(START, dtype=torch.float64)
for i in range(4):
    g = torch.autograd.functional.jacobian(rosenbrock, point)
    H = hessian(rosenbrock, point)
    direction = torch.linalg.solve(H, g)
    step = 1.0
    while rosenbrock(point - step * direction) > rosenbrock(point) - 1e-4 * step * g @ direction and step > 1e-3:
        step /= 2
    point = point - step * direction
    print(f"Newton {i}: {rosenbrock(point).item():.6f} step {step}, condition {torch.linalg.cond(H).item():.1f}")

x = torch.zeros(3, requires_grad=True)
A = torch.tensor([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
b = torch.tensor([1.0, 2.0, 3.0])
r = b - A @ x.detach()
d = r.clone()
solution = x.detach().clone()
for k in range(3):
    alpha = r @ r / (d @ A @ d)
    solution += alpha * d
    new = r - alpha * A @ d
    d = new + (new @ new) / (r @ r) * d
    r = new
print(solution, torch.allclose(A @ solution, b, atol=1e-5))
