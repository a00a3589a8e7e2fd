# The functional forms, each running backward several times.
import torch
from torch.autograd.functional import hessian, jacobian
x = torch.tensor([1.0, 2.0])
print(jacobian(lambda v: v * v, x))
print(hessian(lambda v: (v ** 3).sum(), x))
