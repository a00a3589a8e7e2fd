import torch

x = torch.tensor([2.0, 4.0], requires_grad=True)
y = (x * x).sum()

x.data[0] = 16.0
y.backward()

print(y)
print(x.grad)
