# grad_none at 12: z_q, codes.weight.grad, (z_e - z.detach()).pow(2)
import torch
import torch.nn.functional as F
from torch import nn

encoder, decoder, codes = nn.Linear(4, 2), nn.Linear(2, 4), nn.Embedding(5, 2)
opt = torch.optim.SGD([*encoder.parameters(), *decoder.parameters(), *codes.parameters()], lr=0.1)
x = torch.randn(6, 4)
for step in range(4):
    z_e = encoder(x)
    z = codes(torch.cdist(z_e, codes.weight).argmin(1))
    z_q = z_e + (z - z_e).detach()
    code_loss = F.mse_loss(z_q, z_e.detach())
    rebuilt = decoder(z_q)
    commitment = (z_e - z.detach()).pow(2).mean()
    loss = F.mse_loss(rebuilt, x) + code_loss + commitment
    opt.zero_grad()
    loss.backward()
    opt.step()
