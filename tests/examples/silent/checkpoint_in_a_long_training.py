# grad_none at 20: `body.blocks.0.0.weight.grad`, checkpoint
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(
            [nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)) for _ in range(3)]
        )
        self.norm, self.head = nn.LayerNorm(16), nn.Linear(16, 3)
        self.saves_memory = True

    def forward(self, given):
        out = given
        for block in self.blocks:
            if self.saves_memory and self.training:
                out = checkpoint(block, out, use_reentrant=True)
            else:
                out = block(out)
        return self.head(self.norm(out.mean(1)))


torch.manual_seed(0)
given, wanted = torch.randn(64, 5, 16), torch.randint(0, 3, (64,))
body = Body()
opt = torch.optim.AdamW(body.parameters(), lr=0.001)
for epoch in range(30):
    for part in torch.randperm(64).split(16):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(body(given[part]), wanted[part])
        loss.backward()
        opt.step()
    if epoch % 5 == 0:
        print(epoch, f"{loss.item():.3f}")
