# torch's own finite-difference check.
import torch
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
print(torch.autograd.gradcheck(lambda v: (v * v).sum(), x))
