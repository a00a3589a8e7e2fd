# nonfinite at 4: x
import torch
x = torch.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True)
unit = x / x.norm(dim=1, keepdim=True)
unit.sum().backward()
print(x.grad)
