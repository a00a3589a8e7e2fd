import torch
from torch import nn

torch.manual_seed(0)


class MoE(nn.Module):
    def __init__(self, dim, experts, k):
        super().__init__()
        self.k, self.gate = k, nn.Linear(dim, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim)) for _ in range(experts)
        )

    def forward(self, x):
        scores, chosen = self.gate(x).topk(self.k, dim=-1)
        weights = scores.softmax(dim=-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == number)
            if len(token):
                out = out.index_add(0, token, weights[token, slot, None] * expert(x[token]))
        return out


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.moe = nn.LayerNorm(dim), MoE(dim, 4, 2)

    def forward(self, x):
        return x + self.moe(self.norm(x))


model = nn.Sequential(nn.Linear(5, 6), Layer(6), Layer(6), nn.Linear(6, 1))
opt = torch.optim.Adam(model.parameters())
for _ in range(2):
    loss = (model(torch.randn(7, 5)) - 1).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
