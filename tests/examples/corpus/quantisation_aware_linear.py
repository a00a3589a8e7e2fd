"""Quantisation-aware training with a fake-quantised linear layer and straight-through gradients."""
import torch
from torch import nn
import torch.nn.functional as F


class FakeQuant(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale, bits):
        qmax = 2 ** (bits - 1) - 1
        q = torch.clamp(torch.round(x / scale), -qmax - 1, qmax)
        ctx.save_for_backward(x, scale)
        ctx.qmax = qmax
        return q * scale

    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        inside = (x / scale).abs() <= ctx.qmax
        return grad * inside, None, None


class QATLinear(nn.Linear):
    def __init__(self, i, o, bits=4):
        super().__init__(i, o)
        self.bits = bits
        self.register_buffer("scale", torch.tensor(0.0))

    def forward(self, x):
        with torch.no_grad():
            self.scale.copy_(self.weight.abs().max() / (2 ** (self.bits - 1) - 1))
        return F.linear(x, FakeQuant.apply(self.weight, self.scale.clone(), self.bits), self.bias)


torch.manual_seed(0)
net = nn.Sequential(QATLinear(4, 8), nn.ReLU(), QATLinear(8, 2))
x, y = torch.randn(12, 4), torch.randint(2, (12,))
opt = torch.optim.SGD(net.parameters(), lr=0.2)
for step in range(4):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f}")
w = FakeQuant.apply(net[0].weight, net[0].scale, 4)
print(len(w.unique()) <= 16, sorted(k for k in net.state_dict() if "scale" in k))
int_w = torch.round(net[0].weight / net[0].scale).to(torch.int8)
print(int_w.dtype, torch.allclose(int_w.float() * net[0].scale, w, atol=1e-5))
