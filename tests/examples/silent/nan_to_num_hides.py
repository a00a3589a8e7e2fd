# nonfinite at 5: x.grad
import torch
x = torch.randn(1, requires_grad=True)
w = torch.tensor(float("nan"))
z = (x * w).nan_to_num(0)
print(z)
z.backward()
print(x.grad)
