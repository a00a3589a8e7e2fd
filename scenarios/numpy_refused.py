import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2

array = y.detach().numpy()
array[0] = 8.0
print(y)

print(y.numpy())
