import torch
w = torch.ones(3, requires_grad=True)
h = w * 2
h.register_hook(lambda g: g * 0.5)
h.sum().backward()
print(w.grad)
