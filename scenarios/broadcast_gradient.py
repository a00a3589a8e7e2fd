import torch

table = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
bias = torch.tensor([8.0, 16.0], requires_grad=True)

out = table + bias
out.sum().backward()
print(out)
print(bias.grad)
