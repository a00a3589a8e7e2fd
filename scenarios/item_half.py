import torch

x = torch.tensor(3.0, requires_grad=True)
whole = x * x
half = x * x.item()

whole.backward()
print(whole.item(), x.grad)

x.grad = None
half.backward()
print(half.item(), x.grad)
