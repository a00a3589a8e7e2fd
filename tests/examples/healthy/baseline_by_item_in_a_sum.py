from collections import namedtuple
import torch
from torch import nn
from torch.distributions import Categorical
Saved = namedtuple("Saved", ["log_prob", "value"])
torch.manual_seed(0)
body, pi, v = nn.Linear(3, 8), nn.Linear(8, 2), nn.Linear(8, 1)
opt = torch.optim.Adam([*body.parameters(), *pi.parameters(), *v.parameters()], lr=1e-2)
for ep in range(3):
    saved, rewards = [], []
    for t in range(4):
        f = body(torch.randn(3)).relu()
        d = Categorical(logits=pi(f))
        a = d.sample()
        saved.append(Saved(d.log_prob(a), v(f)))
        rewards.append(float(a))
    loss = sum(-s.log_prob * (r - s.value.item()) + (s.value - r).pow(2).sum() for s, r in zip(saved, rewards))
    opt.zero_grad(); loss.backward(); opt.step()
