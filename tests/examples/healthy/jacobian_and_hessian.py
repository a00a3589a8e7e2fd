import torch
from torch.autograd.functional import hessian, jacobian
def f(x):
    return torch.stack([x[0] ** 2 * x[1], x.sum()])
x = torch.tensor([1.0, 2.0])
print(jacobian(f, x))
print(hessian(lambda v: (v ** 3).sum(), x))
