# wrong_gradient at 7: b, a
import torch
x = torch.tensor([1., 2., 3.])
a = torch.tensor([0.5, -1., 2.], requires_grad=True)
b = torch.tensor([3., 1., -2.], requires_grad=True)
loss = (a * b * x).sum()
b.data.clamp_(-1, 1)
loss.backward()
print(a.grad)
