# nonfinite at 4: a
import torch
a = torch.zeros(3, requires_grad=True)
d = ((a - 0) ** 2).sum().sqrt()
d.backward()
print(a.grad)
