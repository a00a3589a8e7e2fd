"""A physics-informed network for u' = -u with u(0) = 1: derivatives of the network in the loss."""
import torch
from torch import nn

torch.manual_seed(0)


class FCN(nn.Module):
    def __init__(self, n_hidden=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, n_hidden), nn.Tanh(), nn.Linear(n_hidden, n_hidden), nn.Tanh(), nn.Linear(n_hidden, 1))

    def forward(self, t):
        return self.net(t)


pinn = FCN()
t_boundary = torch.tensor(0.0).view(-1, 1).requires_grad_(True)
t_physics = torch.linspace(0, 1, 8).view(-1, 1).requires_grad_(True)
optimiser = torch.optim.Adam(pinn.parameters(), lr=1e-2)
for i in range(5):
    optimiser.zero_grad()
    u = pinn(t_boundary)
    loss1 = (torch.squeeze(u) - 1) ** 2
    u = pinn(t_physics)
    dudt = torch.autograd.grad(u, t_physics, torch.ones_like(u), create_graph=True)[0]
    d2udt2 = torch.autograd.grad(dudt, t_physics, torch.ones_like(dudt), create_graph=True)[0]
    loss2 = torch.mean((dudt + u) ** 2)
    loss3 = torch.mean((d2udt2 - u) ** 2)
    loss = loss1 + 1e-1 * loss2 + 1e-3 * loss3
    loss.backward()
    optimiser.step()
    print(i, f"{loss.item():.5f}", f"{loss2.item():.5f}")
with torch.no_grad():
    t_test = torch.linspace(0, 1, 5).view(-1, 1)
    print(torch.abs(pinn(t_test) - torch.exp(-t_test)).max() < 2)
