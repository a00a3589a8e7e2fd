# backward with create_graph gives a gradient that has a graph.
import torch
x = torch.tensor(2.0, requires_grad=True)
(x ** 3).backward(create_graph=True)
first = x.grad
print(first)
x.grad = None
first.backward()
print(x.grad)
