# saved_overwritten: optD D.weight
import torch
from torch import nn
torch.manual_seed(0)
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
optG = torch.optim.Adam(G.parameters(), lr=0.01)
optD = torch.optim.Adam(D.parameters(), lr=0.01)
bce = nn.BCEWithLogitsLoss()
real = torch.randn(4, 2)
for it in range(2):
    fake = G(torch.randn(4, 2))
    out_fake = D(fake)
    lossD = bce(D(real), torch.ones(4, 1)) + bce(out_fake, torch.zeros(4, 1))
    optD.zero_grad()
    lossD.backward(retain_graph=True)
    optD.step()  # cause
    lossG = bce(out_fake, torch.ones(4, 1))
    optG.zero_grad()
    lossG.backward()
    optG.step()
