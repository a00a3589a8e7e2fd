import torch

x = torch.tensor([1.0, 4.0, 16.0], requires_grad=True)
double = x * 2
double.add_(1)

root = x.sqrt()
root.add_(1)

loss = (double + root).sum()
loss.backward()
