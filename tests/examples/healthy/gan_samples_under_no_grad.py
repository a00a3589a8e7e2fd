import torch
from torch import nn
torch.manual_seed(0)
G = nn.Sequential(nn.Linear(2, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 3))
D = nn.Sequential(nn.Linear(3, 6), nn.LeakyReLU(0.2), nn.Dropout(0.3), nn.Linear(6, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters(), 1e-3), torch.optim.Adam(D.parameters(), 1e-3)
bce = nn.BCEWithLogitsLoss()
fixed = torch.randn(4, 2)
for step in range(4):
    real = torch.randn(8, 3)
    with torch.no_grad():
        fake = G(torch.randn(8, 2))
    d_loss = bce(D(real), torch.ones(8, 1)) + bce(D(fake), torch.zeros(8, 1))
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = bce(D(G(torch.randn(8, 2))), torch.ones(8, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    with torch.no_grad():
        samples = G(fixed)
    print(samples.mean().item())
