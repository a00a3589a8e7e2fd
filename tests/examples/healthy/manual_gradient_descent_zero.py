import torch
torch.manual_seed(0)
x, y = torch.linspace(0, 1, 6), torch.linspace(1, 3, 6)
a = torch.randn((), requires_grad=True)
b = torch.randn((), requires_grad=True)
for t in range(4):
    loss = (a * x + b - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        a -= 0.01 * a.grad
        b -= 0.01 * b.grad
        a.grad.zero_()
        b.grad.zero_()
print(a.item(), b.item())
