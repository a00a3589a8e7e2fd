"""Implicit layers: a fixed point found without a graph, its gradient by a hook, against unrolling."""

import torch
from torch import autograd, nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def anderson(f, x0, m=3, iterations=20, tolerance=1e-8, lam=1e-6):
    n = x0.numel()
    X = torch.zeros(m, n)
    G = torch.zeros(m, n)
    X[0], G[0] = x0.view(-1), f(x0).view(-1)
    X[1], G[1] = G[0], f(G[0].view_as(x0)).view(-1)
    for k in range(2, iterations):
        rows = min(k, m)
        residual = G[:rows] - X[:rows]
        H = torch.zeros(rows + 1, rows + 1)
        H[0, 1:] = H[1:, 0] = 1
        H[1:, 1:] = residual @ residual.t() + lam * torch.eye(rows)
        y = torch.zeros(rows + 1)
        y[0] = 1
        alpha = torch.linalg.solve(H, y)[1:]
        X[k % m] = alpha @ G[:rows]
        G[k % m] = f(X[k % m].view_as(x0)).view(-1)
        error = (G[k % m] - X[k % m]).norm() / (1e-5 + G[k % m].norm())
        if error < tolerance:
            break
    return G[k % m].view_as(x0), k


class Cell(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.inner = nn.Linear(n, n)
        self.inner.weight.data.mul_(0.3)

    def forward(self, z, x):
        return torch.tanh(self.inner(z) + x)


class DEQ(nn.Module):
    def __init__(self, cell):
        super().__init__()
        self.cell, self.backward_steps = cell, 0

    def forward(self, x):
        with torch.no_grad():
            z, self.steps = anderson(lambda z: self.cell(z, x), torch.zeros_like(x))
        z = self.cell(z, x)
        z0 = z.clone().detach().requires_grad_()
        f0 = self.cell(z0, x)

        def backward_hook(grad):
            g, self.backward_steps = anderson(lambda y: autograd.grad(f0, z0, y, retain_graph=True)[0] + grad, grad)
            return g

        if z.requires_grad:
            z.register_hook(backward_hook)
        return z


cell = Cell(3)
deq = DEQ(cell)
x = torch.randn(2, 3, requires_grad=True)
z = deq(x)
print("fixed point:", torch.allclose(z, cell(z, x), atol=1e-6), deq.steps)
(z**2).sum().backward()
implicit = [p.grad.clone() for p in (x, *cell.parameters())]
print("steps back:", deq.backward_steps)

x.grad = None
cell.zero_grad()
unrolled = torch.zeros_like(x)
for _ in range(30):
    unrolled = cell(unrolled, x)
(unrolled**2).sum().backward()
for name, a, b in zip(["x", "weight", "bias"], implicit, (x, *cell.parameters())):
    print(name, torch.allclose(a, b.grad, atol=1e-5), f"{a.norm().item():.6f}")

target = torch.tensor([[0.5, -0.2, 0.1], [0.0, 0.3, -0.4]])
optimizer = torch.optim.SGD(deq.parameters(), lr=0.2)
for step in range(4):
    loss = (deq(x.detach()) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", deq.steps)
torch.set_default_dtype(torch.float32)
