# multi_view_inplace: a
import torch
x = torch.rand(2, 4, requires_grad=True) * 2
a, b = x.chunk(2, dim=1)
a.relu_()  # cause
(a + b).sum().backward()
