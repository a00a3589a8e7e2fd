# logit_as_probability at 16: `score`
import torch
from torch import nn

torch.manual_seed(0)

judge = nn.Linear(5, 1)
opt = torch.optim.Adam(judge.parameters(), lr=0.02)
seen, wanted = torch.randn(24, 5), torch.randint(0, 2, (24,)).float()
for _ in range(4):
    score = judge(seen).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(score, wanted)
    opt.zero_grad()
    loss.backward()
    opt.step()
    chosen = score.round()
    print((chosen == wanted).float().mean().item())
