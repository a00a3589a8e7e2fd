import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([4.0, 8.0], requires_grad=True)
loss = (a * b).sum()

a.requires_grad_(False)
loss.backward()
print(a.grad)
print(b.grad)
still_filled = a.grad is not None
