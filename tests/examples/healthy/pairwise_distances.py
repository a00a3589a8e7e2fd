import torch
from torch import nn

torch.manual_seed(0)
embed = nn.Linear(3, 1)
optimizer = torch.optim.SGD(embed.parameters(), lr=0.1)
places = torch.linspace(0, 1, 6)
for _ in range(3):
    z = embed(torch.randn(6, 3))
    among_each_other = (z - z.squeeze(1)).pow(2).mean()
    to_places = (z.squeeze(1).unsqueeze(1) - places).pow(2).min(1).values.mean()
    optimizer.zero_grad()
    (to_places - 0.1 * among_each_other).backward()
    optimizer.step()
