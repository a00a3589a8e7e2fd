import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
first = w

for step in range(2):
    loss = (w * w).sum()
    loss.backward()
    w = w - 0.25 * w.grad

print(w)
