# zero_gradient at 4: x
import torch
x = torch.randn(3, requires_grad=True)
torch.softmax(x, 0).sum().backward()
print(x.grad)
