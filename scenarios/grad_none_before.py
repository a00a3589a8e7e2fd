import torch

x = torch.tensor([1.0, 2.0])
w = torch.tensor([4.0, 8.0], requires_grad=True)
before = w.grad

loss = (w * x).sum()
loss.backward()
print(before, w.grad, x.grad)
holds = before is None and w.grad is None
