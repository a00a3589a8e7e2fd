"""A linear state space layer: recurrence, convolution form, gradients through the scan."""
import torch
from torch import nn

torch.manual_seed(0)


class SSM(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.log_a = nn.Parameter(torch.linspace(-2, -0.1, n))
        self.B, self.C = nn.Parameter(torch.randn(n) * 0.5), nn.Parameter(torch.randn(n) * 0.5)

    def recurrent(self, u):
        a, x, ys = torch.exp(self.log_a), torch.zeros_like(self.B), []
        for step in u:
            x = a * x + self.B * step
            ys.append(self.C @ x)
        return torch.stack(ys)

    def convolution(self, u):
        L = len(u)
        powers = torch.exp(self.log_a)[:, None] ** torch.arange(L)
        kernel = (self.C[:, None] * self.B[:, None] * powers).sum(0)
        n = 2 * L
        return torch.fft.irfft(torch.fft.rfft(u, n) * torch.fft.rfft(kernel, n), n)[:L]


layer = SSM()
u = torch.randn(8)
print(torch.allclose(layer.recurrent(u), layer.convolution(u), atol=1e-5))
target = torch.roll(u, 1)
target[0] = 0
optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
for step in range(4):
    loss = nn.functional.mse_loss(layer.convolution(u), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.4f}")
g1 = torch.autograd.grad(layer.recurrent(u).sum(), layer.log_a)[0]
g2 = torch.autograd.grad(layer.convolution(u).sum(), layer.log_a)[0]
print(torch.allclose(g1, g2, atol=1e-4))
