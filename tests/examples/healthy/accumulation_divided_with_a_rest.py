import torch
from torch import nn
torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
batches = torch.randn(7, 4, 3)
every = 3
for i, x in enumerate(batches):
    loss = model(x).pow(2).mean() / every
    loss.backward()
    if (i + 1) % every == 0 or i + 1 == len(batches):
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
