"""A sparse mixture of experts: top-k gating, dispatch with masks, load balancing."""
import torch
from torch import nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, dim, experts=4, k=2):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(dim, 2 * dim), nn.SiLU(), nn.Linear(2 * dim, dim)) for _ in range(experts))
        self.k = k

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        probs = F.softmax(self.gate(flat), dim=-1)
        weights, chosen = probs.topk(self.k, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == i)
            if token.numel() == 0:
                continue
            out.index_add_(0, token, weights[token, slot].unsqueeze(1) * expert(flat[token]))
        load = F.one_hot(chosen, len(self.experts)).float().sum((0, 1)) / chosen.numel()
        return out.view_as(x), len(self.experts) * (load * probs.mean(0)).sum(), load


torch.manual_seed(0)
moe = MoE(6)
x, target = torch.randn(2, 5, 6), torch.randn(2, 5, 6)
opt = torch.optim.Adam(moe.parameters(), lr=0.01)
for step in range(3):
    y, balance, load = moe(x)
    loss = F.mse_loss(y, target) + 0.01 * balance
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.4f} {balance.item():.3f}", load)
print([e[0].weight.grad is not None for e in moe.experts])
