import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)

gate, fc = nn.Linear(6, 4), nn.Linear(5, 2)
experts = nn.ModuleList([nn.Linear(6, 5) for _ in range(4)])
optimizer = torch.optim.Adam([*gate.parameters(), *experts.parameters(), *fc.parameters()])
x, y = torch.randn(7, 6), torch.randint(0, 2, (7,))
for step in range(2):
    p = gate(x).softmax(-1)
    top = p.topk(2, dim=-1).indices
    mask = F.one_hot(top, 4).sum(1)
    w = p * mask
    outs = torch.stack([e(x) for e in experts], dim=1)
    h = torch.einsum("ne,ned->nd", w, outs)
    loss = F.cross_entropy(fc(h), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
