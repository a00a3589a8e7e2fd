"""Activation functions and their gradients, saturation and dying ReLUs."""
import torch
import torch.nn.functional as F
from torch import nn

x = torch.linspace(-3, 3, 7)
for act in (nn.ReLU(), nn.LeakyReLU(0.1), nn.ELU(), nn.SELU(), nn.GELU(), nn.SiLU(), nn.Mish(), nn.Softplus(), nn.Sigmoid(), nn.Tanh(), nn.Hardtanh(), nn.Hardswish(), nn.Softsign(), nn.LogSigmoid(), nn.PReLU(), nn.Threshold(0.5, 0.0), nn.Softshrink()):
    z = x.clone().requires_grad_()
    out = act(z)
    out.sum().backward()
    print(type(act).__name__, [round(v, 3) for v in out.tolist()][::3], [round(v, 3) for v in z.grad.tolist()][::3])
torch.manual_seed(0)
h = torch.randn(64, 16)
for depth in range(4):
    h = torch.tanh(h @ (torch.randn(16, 16) * 0.05))
print(f"vanished: {h.std().item():.5f}")
layer = nn.Linear(4, 4)
layer.bias.data.fill_(-10)
out = F.relu(layer(torch.randn(8, 4)))
out.sum().backward()
print("dead:", out.sum().item(), layer.weight.grad.abs().sum().item())
print(F.glu(torch.ones(2, 4)).shape, F.softmax(x, 0).sum(), F.log_softmax(x, 0).exp().sum(), F.softmin(x, 0).argmax())
