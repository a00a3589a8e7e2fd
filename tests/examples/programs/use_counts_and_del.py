# del of a name frees nothing that the graph still needs.
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
z = y * y
del y
print(z.grad_fn._saved_self, z.grad_fn._saved_self is z.grad_fn._saved_other)
z.sum().backward()
print(x.grad)
