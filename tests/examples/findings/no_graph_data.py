# no_graph: h loss
import torch
x = torch.ones(2, requires_grad=True)
h = (x * 2).data  # cause
loss = h.sum()
loss.backward()
