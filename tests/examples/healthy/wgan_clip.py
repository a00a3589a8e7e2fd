import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Linear(2, 3), nn.Linear(3, 1)
opt_g, opt_d = torch.optim.RMSprop(G.parameters(), lr=1e-2), torch.optim.RMSprop(D.parameters(), lr=1e-2)
for it in range(2):
    for _ in range(2):
        opt_d.zero_grad()
        with torch.no_grad():
            fake = G(torch.randn(4, 2))
        loss_d = D(fake).mean() - D(torch.randn(4, 3)).mean()
        loss_d.backward()
        opt_d.step()
        with torch.no_grad():
            for p in D.parameters():
                p.clamp_(-0.1, 0.1)
    opt_g.zero_grad()
    loss_g = -D(G(torch.randn(4, 2))).mean()
    loss_g.backward()
    opt_g.step()
print(loss_d.item(), loss_g.item())
