import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([4.0, 8.0], requires_grad=True)
loss = (w * v).sum()

w.requires_grad_(False)
loss.backward()

print(w.grad, v.grad)
still_trained = w.grad is not None
