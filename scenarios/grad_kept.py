import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * 4).sum().backward()
before = w.grad

w.grad.zero_()
print(before)

w.grad = None
(w * 8).sum().backward()
print(before, w.grad)
