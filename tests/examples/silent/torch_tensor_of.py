# grad_none at 4: x
import torch
x = torch.tensor(2., requires_grad=True)
y = torch.tensor([x * 2, x * 3], requires_grad=True)
y.sum().backward()
print(x.grad)
