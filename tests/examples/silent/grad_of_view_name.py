# grad_none at 4: flat
import torch
W = torch.ones(2, 2, requires_grad=True)
flat = W.view(-1)
(flat ** 2).sum().backward()
print(flat.grad)
