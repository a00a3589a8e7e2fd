# grad_accumulated at 6: w
import torch
w = torch.tensor([1.0], requires_grad=True)
for _ in range(3):
    loss = (w * 2).sum()
    loss.backward()
    print(w.grad)
    with torch.no_grad():
        w -= 0.1 * w.grad
