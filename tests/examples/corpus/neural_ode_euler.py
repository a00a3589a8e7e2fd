"""A neural ODE with a fixed-step Runge-Kutta solver, backpropagated through."""
import torch
from torch import nn

torch.manual_seed(0)


class ODEFunc(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 10), nn.Tanh(), nn.Linear(10, 2))
        self.calls = 0

    def forward(self, t, y):
        self.calls += 1
        return self.net(y ** 3)


def rk4(f, y, t):
    out = [y]
    for t0, t1 in zip(t[:-1], t[1:]):
        h = t1 - t0
        k1 = f(t0, y)
        k2 = f(t0 + h / 2, y + h / 2 * k1)
        k3 = f(t0 + h / 2, y + h / 2 * k2)
        k4 = f(t1, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        out.append(y)
    return torch.stack(out)


true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
t = torch.linspace(0.0, 1.0, 5)
with torch.no_grad():
    true_y = rk4(lambda t, y: (y ** 3) @ true_A, torch.tensor([[2.0, 0.0]]), t)
print(true_y.shape, true_y[-1])
func = ODEFunc()
opt = torch.optim.RMSprop(func.parameters(), lr=1e-2)
for step in range(3):
    pred = rk4(func, true_y[0], t)
    loss = (pred - true_y).abs().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}", func.calls)
