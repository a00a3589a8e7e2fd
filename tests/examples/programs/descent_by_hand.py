# Gradient descent under no_grad, with the grads set to zero.
import torch
w = torch.tensor([4.0, 2.0], requires_grad=True)
for turn in range(3):
    (w * w).sum().backward()
    with torch.no_grad():
        w -= 0.25 * w.grad
        w.grad.zero_()
    print(turn, w, w._version)
