# Walking the graph by hand, down to the node that accumulates.
import torch
t = torch.tensor([1.0, 2.0], requires_grad=True)
total = (t * 2 + t).sum()
node = total.grad_fn
print(node.name())
add = node.next_functions[0][0]
print(type(add).__name__, [to.name() for to, _ in add.next_functions])
print(add.next_functions[1][0].variable is t)
