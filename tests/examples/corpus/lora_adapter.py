"""Low-rank adaptation: frozen weights, two small matrices, merging."""
import math

import torch
from torch import nn


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        if self.base.bias is not None:
            self.base.bias.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.lora_A.T @ self.lora_B.T) * self.scaling

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.lora_B @ self.lora_A * self.scaling
        return self.base


def add_lora(module, r):
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, LoRALinear(child, r))
        else:
            add_lora(child, r)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.Sequential(nn.Linear(8, 8), nn.GELU()), nn.Linear(8, 2))
x, y = torch.randn(10, 6), torch.randint(2, (10,))
before = model(x)
add_lora(model, r=2)
print(torch.allclose(before, model(x)))
trainable = [n for n, p in model.named_parameters() if p.requires_grad]
print(trainable, sum(p.numel() for p in model.parameters() if p.requires_grad), sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.05)
for step in range(3):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
print(model[0].base.weight.grad, model[0].lora_B.grad.shape)
tuned = model(x)
model[0], model[3] = model[0].merge(), model[3].merge()
print(torch.allclose(tuned, model(x), atol=1e-5))
torch.save({k: v for k, v in model.state_dict().items() if "lora_" in k}, "adapter.pt")
print(list(torch.load("adapter.pt")))
