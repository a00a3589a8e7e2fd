# grad_none at 5: x
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
z = torch.tensor(y, requires_grad=True)
z.sum().backward()
print(x.grad)
