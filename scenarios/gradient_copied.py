import copy

import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * 4).sum().backward()

name = w
cloned = w.clone()
deep = copy.deepcopy(w)

cloned.retain_grad()
w.grad.mul_(2)
print(name.grad, deep.grad, cloned.grad)
holds = cloned.grad is not None
