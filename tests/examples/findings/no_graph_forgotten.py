# no_graph: x y
import torch
x = torch.tensor([1.0, 2.0])  # cause
y = (x ** 2).sum()
y.backward()
