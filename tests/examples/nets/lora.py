import torch
from torch import nn

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base, self.scale = base.requires_grad_(False), alpha / rank
        self.down, self.up = (
            nn.Linear(base.in_features, rank, bias=False),
            nn.Linear(rank, base.out_features, bias=False),
        )
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.scale * self.up(self.down(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.v, self.out = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x):
        weights = (self.q(x) @ x.transpose(-2, -1)).softmax(-1)
        return x + torch.relu(self.out(weights @ self.v(x)))


model = nn.Sequential(Layer(), Layer(), nn.Linear(6, 2)).requires_grad_(False)
for layer in model[:2]:
    layer.q, layer.v = LoRALinear(layer.q), LoRALinear(layer.v)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for _ in range(2):
    loss = nn.functional.mse_loss(model(torch.randn(2, 3, 6)), torch.zeros(2, 3, 2))
    opt.zero_grad()
    loss.backward()
    opt.step()
