import torch

x = torch.tensor([2.0], requires_grad=True)
y = (x ** 3).sum()
y.backward()
print('次 "x"')
x.grad
