# nonfinite at 5: x
import torch
x = torch.zeros(2, requires_grad=True)
target = torch.zeros(2)
dist = torch.sqrt(((x - target) ** 2).sum())
dist.backward()
print(x.grad)
