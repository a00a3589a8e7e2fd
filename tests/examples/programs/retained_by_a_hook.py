# A hook keeps gradients for later; the kept ones are the ones that passed.
import torch
seen = []
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.register_hook(seen.append)
x.register_hook(lambda g: seen.append(g.clone()))
(y * 4).sum().backward()
print(seen, x.grad)
