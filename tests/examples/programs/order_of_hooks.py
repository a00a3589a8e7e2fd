# Tensor hooks, node hooks and the hook after accumulation, in torch's order.
import torch
x = torch.ones(1, requires_grad=True)
y = x * 2
y.register_hook(lambda g: print("first", g))
y.register_hook(lambda g: g * 4)
x.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad))
y.grad_fn.register_prehook(lambda outer: print("before the node", outer))
y.grad_fn.register_hook(lambda inner, outer: print("after the node", inner, outer))
(y * y).backward()
print(x.grad)
