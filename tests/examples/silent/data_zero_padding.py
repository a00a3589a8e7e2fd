# wrong_gradient at 5: h
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x.exp()
h.data[0] = 0.0
h.sum().backward()
print(x.grad)
