import torch

point = torch.tensor([0.0, 0.0], requires_grad=True)
length = point.pow(2).sum().sqrt()
length.backward()
print(point.grad)
