# nonfinite at 6: a
import torch

torch.manual_seed(0)
a = torch.eye(3, requires_grad=True)
values, vectors = torch.linalg.eigh(a)
loss = (vectors * torch.arange(9.0).view(3, 3)).sum()
loss.backward()
print(a.grad)
