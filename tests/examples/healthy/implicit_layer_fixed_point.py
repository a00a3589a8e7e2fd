import torch
torch.manual_seed(0)
W = (0.3 * torch.randn(3, 3)).requires_grad_()
x = torch.randn(3)
with torch.no_grad():
    z = torch.zeros(3)
    for _ in range(10):
        z = torch.tanh(W @ z + x)
z = torch.tanh(W @ z + x)
z.pow(2).sum().backward()
print(W.grad.norm())
