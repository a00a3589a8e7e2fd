"""Higher derivatives: grad of grad, Hessian-vector products, a Newton step, the Laplacian."""
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x ** 4
d1, = torch.autograd.grad(y, x, create_graph=True)
d2, = torch.autograd.grad(d1, x, create_graph=True)
d3, = torch.autograd.grad(d2, x, create_graph=True)
print(d1.item(), d2.item(), d3.item())


def rosenbrock(p):
    return (1 - p[0]) ** 2 + 100 * (p[1] - p[0] ** 2) ** 2


p = torch.tensor([-1.2, 1.0], dtype=torch.float64, requires_grad=True)
for it in range(4):
    loss = rosenbrock(p)
    g, = torch.autograd.grad(loss, p, create_graph=True)
    H = torch.stack([torch.autograd.grad(g[i], p, retain_graph=True)[0] for i in range(2)])
    with torch.no_grad():
        p -= torch.linalg.solve(H, g)
    print(it, f"{loss.item():.6f}", H.diagonal().tolist()[1])
print(p)
v = torch.tensor([1.0, -1.0], dtype=torch.float64)
g, = torch.autograd.grad(rosenbrock(p), p, create_graph=True)
hv, = torch.autograd.grad(g, p, grad_outputs=v)
print(torch.allclose(hv, torch.autograd.functional.hessian(rosenbrock, p.detach()) @ v))
u = torch.linspace(0, 1, 5, requires_grad=True)
f = torch.sin(3 * u)
df, = torch.autograd.grad(f.sum(), u, create_graph=True)
ddf, = torch.autograd.grad(df.sum(), u)
print(torch.allclose(ddf, -9 * torch.sin(3 * u.detach()), atol=1e-5), df.requires_grad, ddf.requires_grad)
z = torch.ones(2, requires_grad=True)
try:
    g1, = torch.autograd.grad((z ** 2).sum(), z)
    torch.autograd.grad(g1.sum(), z)
except RuntimeError as error:
    print(error)
print(torch.autograd.grad(z.sum(), torch.ones(1, requires_grad=True), allow_unused=True))
