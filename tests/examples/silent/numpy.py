# wrong_gradient at 5: y, x
import torch
x = torch.tensor([1., 2.], requires_grad=True)
y = x.exp()
y.detach().numpy()[:] = 0
y.sum().backward()
print(x.grad)
