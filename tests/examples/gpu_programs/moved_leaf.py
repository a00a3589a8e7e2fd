import torch
w = torch.ones(3, requires_grad=True)
moved = w.to("cuda")
(moved * 2).sum().backward()
print(w.grad, moved.grad_fn.name(), moved.is_leaf)
made = torch.ones(3, device="cuda", requires_grad=True)
made.sum().backward()
print(made.grad)
