# nonfinite at 4: x.grad, log
import torch
x = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
y = torch.where(x > 0, torch.log(x), torch.zeros_like(x))
y.sum().backward()
print(y, x.grad)
