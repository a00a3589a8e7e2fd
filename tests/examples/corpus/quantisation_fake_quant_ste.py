"""Quantisation-aware training by hand: fake quantisation with a straight-through estimator and an observer."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


class MinMaxObserver(nn.Module):
    def __init__(self, bits=8, momentum=0.1):
        super().__init__()
        self.levels, self.momentum = 2**bits - 1, momentum
        self.register_buffer("low", torch.tensor(0.0))
        self.register_buffer("high", torch.tensor(0.0))
        self.register_buffer("started", torch.tensor(False))

    def forward(self, x):
        if self.training:
            low, high = x.detach().aminmax()
            if not self.started:
                self.low.copy_(low)
                self.high.copy_(high)
                self.started.fill_(True)
            else:
                self.low.lerp_(low, self.momentum)
                self.high.lerp_(high, self.momentum)
        scale = ((self.high - self.low) / self.levels).clamp(min=1e-8)
        zero_point = (-self.low / scale).round().clamp(0, self.levels)
        q = RoundSTE.apply(x / scale + zero_point).clamp(0, self.levels)
        return (q - zero_point) * scale


class QATLinear(nn.Linear):
    def __init__(self, *args, bits=4, **kwargs):
        super().__init__(*args, **kwargs)
        self.weight_quant = MinMaxObserver(bits)
        self.input_quant = MinMaxObserver(8)

    def forward(self, x):
        return F.linear(self.input_quant(x), self.weight_quant(self.weight), self.bias)


net = nn.Sequential(QATLinear(3, 8), nn.ReLU(), QATLinear(8, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
x = torch.rand(32, 3)
y = (x[:, :1] - x[:, 1:2]) * x[:, 2:]
for step in range(10):
    loss = F.mse_loss(net(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 3 == 0:
        print(step, f"{loss.item():.5f}", f"range {net[0].weight_quant.low:.3f} … {net[0].weight_quant.high:.3f}")

net.eval()
with torch.no_grad():
    layer = net[0]
    quantised = layer.weight_quant(layer.weight)
    print("different weights:", quantised.unique().numel(), "of at most", layer.weight_quant.levels + 1)
    scale = ((layer.weight_quant.high - layer.weight_quant.low) / layer.weight_quant.levels).item()
    zero_point = round(-layer.weight_quant.low.item() / scale)
    integers = torch.quantize_per_tensor(layer.weight, scale, zero_point, torch.quint8)
    print(integers.int_repr().clamp(max=15)[:2])
    built_in = torch.fake_quantize_per_tensor_affine(layer.weight, scale, zero_point, 0, 15)
    print("as torch does it:", torch.allclose(built_in, quantised, atol=1e-6))

w = torch.tensor([-2.0, 0.3, 2.0], requires_grad=True)
torch.fake_quantize_per_tensor_affine(w, 0.1, 0, -10, 10).sum().backward()
print(w.grad)
