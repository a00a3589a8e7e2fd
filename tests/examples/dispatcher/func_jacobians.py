import torch
import numpy as np

from torch.func import jacrev, jacfwd, hessian, vmap
f = lambda x: torch.stack([x.sum(), (x ** 2).sum(), x.prod()])
x = torch.arange(1.0, 4.0)
print(jacrev(f)(x), jacfwd(f)(x), hessian(lambda x: x.prod())(x))
print(jacrev(jacfwd(lambda x: x.sin().sum()))(x), vmap(jacrev(f))(torch.ones(2, 3)))
print(jacrev(lambda a, b: a * b, argnums=1)(x, x), torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), x))
print(torch.autograd.functional.jacobian(f, x, vectorize=True), torch.autograd.functional.jvp(f, x, torch.ones(3)))
print(torch.autograd.functional.vhp(lambda x: (x ** 3).sum(), x, torch.ones(3)))
print(torch.autograd.functional.jacobian(f, x, vectorize=True, strategy="forward-mode"))
