import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
a = (w * 2).sum()
b = (w * 4).sum()

stacked = torch.stack([a, b])
rebuilt = torch.tensor([a, b])
print(stacked, rebuilt)

stacked.sum().backward()
print(w.grad)
rebuilt.sum().backward()
