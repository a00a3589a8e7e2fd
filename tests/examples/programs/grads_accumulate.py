# Three backwards add up in one .grad; after a reset there is another one.
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
for _ in range(3):
    (x * 2).sum().backward()
    print(x.grad, x.grad._version)
old = x.grad
x.grad = None
(x * 4).sum().backward()
print(old, x.grad, old is x.grad)
