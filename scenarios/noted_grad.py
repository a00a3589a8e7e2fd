import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)

(w * 2).sum().backward()
noted = w.grad
copied = w.grad.clone()

(w * 4).sum().backward()
print(noted)
print(copied)

w.grad = None
(w * 8).sum().backward()
print(noted, w.grad)
