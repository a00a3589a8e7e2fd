# leaf_inplace: w
import torch
w = torch.tensor(1.0, requires_grad=True)
x, y = torch.tensor(2.0), torch.tensor(3.0)
for step in range(3):
    loss = (w * x - y) ** 2
    loss.backward()
    w -= 0.1 * w.grad  # cause
