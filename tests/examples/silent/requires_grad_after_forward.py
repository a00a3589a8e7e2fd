# grad_none at 5: w
import torch
w = torch.ones(2)
y = (w * 3).sum() + torch.zeros((), requires_grad=True)
w.requires_grad_()
y.backward()
print(w.grad)
