# not_in_optimizer at 7: decoder, optimizer
import torch
from torch import nn
torch.manual_seed(0)
encoder = nn.GRU(2, 4, batch_first=True)
decoder = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
for _ in range(3):
    _, h = encoder(torch.randn(3, 5, 2))
    loss = decoder(h[0]).pow(2).mean()
    encoder.zero_grad(); decoder.zero_grad()
    loss.backward()
    optimizer.step()
