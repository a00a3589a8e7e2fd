# multi_view_inplace: gate
import torch
h = torch.nn.Linear(3, 4)(torch.ones(2, 3))
value, gate = h.chunk(2, dim=1)  # cause
gate.sigmoid_()  # cause
(value * gate).sum().backward()
