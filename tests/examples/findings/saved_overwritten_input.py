# saved_overwritten: w
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0])
y = (x * w).sum()
w.fill_(0)  # cause
y.backward()
