import torch
import numpy as np

from torch.autograd.graph import register_multi_grad_hook, get_gradient_edge, increment_version
a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
register_multi_grad_hook([a, b], lambda grads: print("all", [g.tolist() for g in grads]))
y = a * b * 2
edge = get_gradient_edge(y)
y.sum().backward(retain_graph=True)
print(edge.output_nr)
n = torch.zeros(2)
increment_version(n)
print(n._version)
