# nonfinite at 6: cos
import torch
a = torch.tensor([1.0, 0.0], requires_grad=True)
b = torch.tensor([1.0, 0.0])
cos = (a * b).sum()
angle = torch.acos(cos)
angle.backward()
print(a.grad)
