# backward_twice: scale
import torch
w = torch.tensor(1.0, requires_grad=True)
scale = w.exp()  # cause
for k in range(3):
    loss = scale * k + scale ** 2
    loss.backward()
