import torch
w = torch.ones(2, 2, device="cuda", requires_grad=True)
y = w * 3
y.retain_grad()
y.register_hook(lambda grad: grad * 10)
w.register_post_accumulate_grad_hook(lambda p: print("accumulated", p.grad.sum().item()))
(y ** 2).sum().backward()
print(y.grad, w.grad)
