import torch
from torch import nn
torch.manual_seed(0)
enc, dec, codes = nn.Linear(3, 2), nn.Linear(2, 3), nn.Embedding(4, 2)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *codes.parameters()], lr=0.01)
for _ in range(2):
    x = torch.randn(5, 3)
    z = enc(x)
    idx = torch.cdist(z, codes.weight).argmin(1)
    q = codes(idx)
    st = z + (q - z).detach()
    loss = (dec(st) - x).pow(2).mean() + (q - z.detach()).pow(2).mean() + 0.25 * (z - q.detach()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
