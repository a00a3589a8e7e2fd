# grad_none at 11: w, fast
import torch
torch.manual_seed(0)
w = torch.randn(2, requires_grad=True)
x, y = torch.randn(5, 2), torch.randn(5)
opt = torch.optim.SGD([w], lr=0.1)
fast = w
for _ in range(2):
    inner = ((x @ fast - y) ** 2).mean()
    g = torch.autograd.grad(inner, fast)[0]
    fast = (fast - 0.1 * g).detach().requires_grad_()
outer = ((x @ fast - y) ** 2).mean()
opt.zero_grad()
outer.backward()
print(w.grad)
opt.step()
