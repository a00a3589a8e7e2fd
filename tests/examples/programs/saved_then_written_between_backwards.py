# An optimizer's step between two backwards writes what the second one saved.
import torch
w = torch.tensor([2.0], requires_grad=True)
x = torch.tensor([1.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.5)
first, second = (w * x).sum(), (w * w * x).sum()
first.backward()
opt.step()
second.backward()
