# grad_accumulated at 6: w
import torch
w = torch.tensor(1., requires_grad=True)
for i in range(4):
    loss = (w - 3) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
print(w)
