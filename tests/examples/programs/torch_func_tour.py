# grad, vmap, jvp, vjp, jacrev and jacfwd, nested in each other.
import torch
from torch.func import grad, jacfwd, jacrev, jvp, vjp, vmap
x = torch.tensor([1.0, 2.0])
def energy(v):
    square = v * v
    return (square * v).sum()
print(grad(energy)(x), grad(grad(lambda a: a ** 3))(torch.tensor(2.0)))
print(jvp(energy, (x,), (torch.ones(2),)))
value, back = vjp(energy, x)
print(value, back(torch.tensor(1.0)))
print(jacrev(lambda v: v * v)(x), jacfwd(lambda v: v * v)(x), vmap(grad(lambda a: a ** 2))(x))
