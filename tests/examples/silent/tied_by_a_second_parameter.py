# shared_memory at 7: encoder.weight, decoder.weight
import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 3, bias=False), nn.Linear(3, 6, bias=False)
decoder.weight = nn.Parameter(encoder.weight.t())
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
x = torch.randn(8, 6)
for step in range(3):
    optimizer.zero_grad()
    loss = (decoder(torch.tanh(encoder(x))) - x).pow(2).mean()
    loss.backward()
    optimizer.step()
