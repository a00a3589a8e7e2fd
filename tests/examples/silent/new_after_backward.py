# grad_none at 8: w
import torch
w = torch.randn(3, requires_grad=True)
x = torch.randn(5, 3)
for i in range(3):
    loss = (x @ w).pow(2).mean()
    loss.backward()
    w = w - 0.1 * w.grad
    print(w.grad)
