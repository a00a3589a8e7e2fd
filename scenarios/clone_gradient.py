import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.clone()

(a * a).sum().backward()
print(a.grad)

(b * 4).sum().backward()
print(a.grad)
print(b.grad_fn.name())
holds = b.is_leaf
