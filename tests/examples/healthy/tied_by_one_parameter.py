import torch
from torch import nn

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 3, bias=False), nn.Linear(6, 3, bias=False)
decoder.weight = encoder.weight
optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
x, rewards = torch.randn(8, 6), torch.randn(8)
scale = (rewards - rewards.mean()) / rewards.std()
for step in range(3):
    optimizer.zero_grad()
    loss = (nn.functional.linear(torch.tanh(encoder(x)), decoder.weight.t()) - x).pow(2).mean(1)
    (loss * scale.abs()).mean().backward()
    optimizer.step()
