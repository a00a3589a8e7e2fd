# term_moves_nothing at 13: loss
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
x = torch.randn(8, 4)
for step in range(3):
    code = encoder(x)
    sparsity = code.abs().mean()
    rebuilt = (decoder(code) - x).pow(2).mean()
    loss = rebuilt + 0.1 * sparsity.item()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
