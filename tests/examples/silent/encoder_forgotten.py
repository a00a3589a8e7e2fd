# not_in_optimizer at 6: encoder, optimizer
import torch
from torch import nn
torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 2), nn.Linear(2, 6)
optimizer = torch.optim.Adam(decoder.parameters(), lr=0.01)
for _ in range(3):
    x = torch.randn(4, 6)
    loss = (decoder(torch.relu(encoder(x))) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
