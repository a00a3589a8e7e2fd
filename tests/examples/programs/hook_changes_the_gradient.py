# A hook returns another gradient; once removed it has no say.
import torch
w = torch.ones(2, requires_grad=True)
handle = w.register_hook(lambda grad: grad * 8)
(w * 2).sum().backward()
print(w.grad)
handle.remove()
(w * 2).sum().backward()
print(w.grad)
