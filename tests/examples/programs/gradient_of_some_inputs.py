# backward(inputs=...) and grad(allow_unused=True) leave the others alone.
import torch
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([4.0, 8.0], requires_grad=True)
(a * b).sum().backward(inputs=[a])
print(a.grad, b.grad)
print(torch.autograd.grad((a * 2).sum(), [a, b], allow_unused=True))
print(torch.autograd.grad((a * b).sum(), [b]))
