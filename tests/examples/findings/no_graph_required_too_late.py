# no_graph: x
import torch
x = torch.ones(2)
y = x * 2
x.requires_grad = True  # cause
y.sum().backward()
