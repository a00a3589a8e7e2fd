# nonfinite at 4: x
import torch
x = torch.zeros(2, requires_grad=True)
(x * x).sum().sqrt().backward()
print(x.grad)
