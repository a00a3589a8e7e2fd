import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 4
total = b.sum()

b.detach_()
total.backward()

print(b.grad_fn)
print(a.grad)
cut = a.grad is None
