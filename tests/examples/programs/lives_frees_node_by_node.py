import torch
x = torch.rand(3, requires_grad=True)
e = x.exp()
s = e.sin()
out = s.sum()
del e, s
out.backward(retain_graph=True)
out.backward()
x.grad = None
del out, x
