import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
square = x * x
line = x * 8

loss = (square + line).sum()
loss.backward()
print(x.grad)
