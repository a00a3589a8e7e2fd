# saved_overwritten: w
import torch
w = torch.tensor([2.0], requires_grad=True)
x = torch.tensor([3.0], requires_grad=True)
loss = (w * x).pow(2).sum()
with torch.no_grad():
    w -= 0.1  # cause
loss.backward()
