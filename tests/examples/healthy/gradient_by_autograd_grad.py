import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
for i in range(3):
    loss = (w**3).sum()
    (g,) = torch.autograd.grad(loss, w)
    w = (w - 0.01 * g).detach().requires_grad_()
print(w)
