import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Linear(2, 3), nn.Linear(3, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
bce = nn.BCEWithLogitsLoss()
for it in range(2):
    fake = G(torch.randn(4, 2))
    opt_d.zero_grad()
    loss_d = bce(D(torch.randn(4, 3)), torch.ones(4, 1)) + bce(D(fake.detach()), torch.zeros(4, 1))
    loss_d.backward()
    opt_d.step()
    D.requires_grad_(False)
    opt_g.zero_grad()
    loss_g = bce(D(fake), torch.ones(4, 1))
    loss_g.backward()
    opt_g.step()
    D.requires_grad_(True)
print(loss_g.item())
