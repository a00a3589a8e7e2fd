# grad_none at 3: W
import torch
W = torch.randn(3, 2, requires_grad=True) * 0.01
b = torch.zeros(3, requires_grad=True)
out = W @ torch.ones(2) + b
out.sum().backward()
print(W.grad, b.grad)
