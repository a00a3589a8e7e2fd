import torch
torch.manual_seed(0)
w = torch.randn(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
def loss_of(w, x, y):
    return ((x @ w - y) ** 2).mean()
for it in range(2):
    x, y = torch.randn(4, 2), torch.randn(4)
    fast = w
    for _ in range(2):
        (g,) = torch.autograd.grad(loss_of(fast, x, y), fast, create_graph=True)
        fast = fast - 0.1 * g
    opt.zero_grad()
    loss_of(fast, x, y).backward()
    opt.step()
