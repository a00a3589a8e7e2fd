# grad_accumulated at 7: w
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
lr = 0.1
for step in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    with torch.no_grad():
        w -= lr * w.grad
print(w)
