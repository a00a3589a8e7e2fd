import torch

w = torch.ones(2, requires_grad=True)
w.requires_grad = False
w.requires_grad = True
y = w * 2

frozen = y.detach()
print(frozen.requires_grad)
y.requires_grad = False
