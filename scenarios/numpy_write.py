import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()

array = x.detach().numpy()
array[0] = 16.0

y.backward()
print(x._version, x.grad)
holds = x.grad.tolist() == [2.0, 4.0]
