# nonfinite at 4: x
import torch
x = torch.tensor([0., 4.], requires_grad=True)
y = torch.sqrt(x).sum()
y.backward()
print(x.grad)
