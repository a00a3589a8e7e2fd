# nonfinite at 4: x
import torch
x = torch.zeros(3, requires_grad=True)
n = (x * 2).pow(2).sum().sqrt()
n.backward()
print(x.grad)
