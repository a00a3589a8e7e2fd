import torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2

node = y.grad_fn.next_functions[0][0]
print(x.grad_fn)
print(node.name(), node.variable is x)
holds = x.grad_fn is node

y.sum().backward()
print(x.grad)
