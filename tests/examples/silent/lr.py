# nonfinite at 8: w
import torch
w = torch.tensor([5.], requires_grad=True)
for i in range(30):
    loss = (w ** 4).sum()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
print(w)
