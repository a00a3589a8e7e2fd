# w.data = other after w was saved: the gradient is that of the other, and nobody says so.
import torch
w = torch.tensor([2.0], requires_grad=True)
x = torch.tensor([1.0], requires_grad=True)
loss = (w * x).sum()
w.data = torch.tensor([64.0])
loss.backward()
print(x.grad, w.grad, w._version)
