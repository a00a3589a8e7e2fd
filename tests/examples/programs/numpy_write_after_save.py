# numpy writes into what exp saved; backward notices nothing.
import torch
x = torch.zeros(3, requires_grad=True)
y = x.exp()
array = y.detach().numpy()
array[0] = 4
y.sum().backward()
print(x.grad, y._version)
