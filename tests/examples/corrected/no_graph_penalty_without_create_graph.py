import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x ** 3).sum()
(g,) = (3 * x ** 2,)
penalty = (g ** 2).sum()
penalty.backward()
