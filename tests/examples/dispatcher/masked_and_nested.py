import torch
import numpy as np

import warnings
warnings.simplefilter("ignore")
m = torch.masked.masked_tensor(torch.arange(4.0), torch.tensor([True, False, True, True]), requires_grad=True)
s = (m * 2).sum()
s.backward()
print(m, s, m.grad)
n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)], layout=torch.jagged, requires_grad=True)
out = (n * 2).sin()
out.values().sum().backward()
print(out.shape, n.grad.values())
p = torch.nested.to_padded_tensor(torch.nested.nested_tensor([torch.ones(2), torch.ones(1)]), 0.0)
print(p)
