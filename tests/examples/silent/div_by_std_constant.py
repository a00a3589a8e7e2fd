# nonfinite at 4: std
import torch
x = torch.full((4,), 2.0, requires_grad=True)
z = (x - x.mean()) / x.std()
z.sum().backward()
print(x.grad)
