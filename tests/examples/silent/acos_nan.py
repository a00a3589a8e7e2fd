# nonfinite at 5: cos
import torch
a = torch.tensor([1.0, 0.0], requires_grad=True)
cos = (a * torch.tensor([1.0, 0.0])).sum()
angle = torch.acos(cos)
angle.backward()
print(a.grad)
