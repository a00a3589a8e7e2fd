import torch

w = torch.tensor([1.0, -2.0], requires_grad=True)
for i in range(4):
    loss = (w**2).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
print(w)
