# no_graph: first constant create_graph
import torch
def second_derivative(y, x):
    first, = torch.autograd.grad(y, x, create_graph=True)  # cause
    second, = torch.autograd.grad(first, x, create_graph=True)
    return second
x = torch.tensor(1.0, requires_grad=True)
print(second_derivative(x ** 2, x))
print(second_derivative(x * 2, x))
